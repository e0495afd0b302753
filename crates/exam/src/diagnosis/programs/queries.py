# Clients of a database that is in memory as a whole: each looks rows up by their key.
import os
import random
import sqlite3
import sys

ROWS = 20_000
database = sqlite3.connect("stock.db", isolation_level=None)
database.execute("create table stock(number integer primary key, text)")
database.execute("begin")
database.executemany("insert into stock values(?, ?)", ((n, "x" * 200) for n in range(ROWS)))
database.execute("commit")
database.close()
for _ in range(int(sys.argv[1]) - 1):
    if os.fork() == 0:
        break
database = sqlite3.connect("stock.db")
open("ready", "w").close()
while True:
    number = random.randrange(ROWS)
    database.execute("select text from stock where number = ?", (number,)).fetchone()
