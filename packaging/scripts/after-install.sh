#!/bin/sh
# Makes the user and folder of the services where systemd is installed. Starts nothing.
set -e
if command -v systemd-sysusers >/dev/null; then
  systemd-sysusers fathom.conf
fi
if command -v systemd-tmpfiles >/dev/null && getent passwd fathom >/dev/null; then
  # Without /proc, as where images are built, it is done at the next boot.
  systemd-tmpfiles --create fathom.conf || true
fi
if [ -d /run/systemd/system ]; then
  systemctl daemon-reload
fi
