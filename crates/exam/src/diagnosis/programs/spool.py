# A mail spool: each message is written under another name, made durable, and renamed.
import os

folder = os.open(".", os.O_RDONLY)
open("ready", "w").close()
number = 0
while True:
    number += 1
    name = f"message-{number % 200}"
    message = os.open("incoming", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.write(message, b"m" * 3000)
    os.fsync(message)
    os.close(message)
    os.rename("incoming", name)
    os.fsync(folder)
