#!/bin/sh
# Stops the services when the package goes away. An upgrade leaves them running: a
# trial may be under way.
set -e
case ${1-} in
remove | 0) # dpkg, rpm
  if [ -d /run/systemd/system ]; then
    systemctl disable --now fathom-agent.service fathom-record.service fathom-net-server.service || true
  fi
  ;;
esac
