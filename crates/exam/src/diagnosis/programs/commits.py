# A database whose one connection commits row by row (SQLite, synchronous=FULL).
import sqlite3

database = sqlite3.connect("orders.db", isolation_level=None)
database.execute("pragma journal_mode=delete")
database.execute("pragma synchronous=full")
database.execute("create table orders(number integer primary key, text)")
open("ready", "w").close()
while True:
    database.execute("insert into orders(text) values(?)", ("x" * 180,))
