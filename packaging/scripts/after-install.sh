#!/bin/sh
# Makes the user and folder of the services where systemd is installed. Starts nothing.
set -e
if command -v systemd-sysusers >/dev/null; then
  systemd-sysusers fathom.conf
fi
if command -v systemd-tmpfiles >/dev/null && getent passwd fathom >/dev/null; then
  systemd-tmpfiles --create fathom.conf
fi
if [ -d /run/systemd/system ]; then
  systemctl daemon-reload
fi
