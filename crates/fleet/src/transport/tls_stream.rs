//! The two directions of a TLS connection, for two threads.
//!
//! rustls keeps both in one object. Here whoever reads waits on the socket
//! without holding it, so that the other thread can write meanwhile.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustls::Connection;

use crate::transport::Transport;

/// Records are at most 16 KiB and a little.
const RAW_BYTES: usize = 17 << 10;

struct SharedStream {
    connection: Mutex<Connection>,
    /// Held while records are sent, so that they keep their order.
    sending: Mutex<TcpStream>,
}

impl SharedStream {
    fn connection(&self) -> MutexGuard<'_, Connection> {
        lock(&self.connection)
    }

    /// Sends what the connection has to say.
    fn send(&self, sending: &mut MutexGuard<'_, TcpStream>) -> io::Result<()> {
        let mut records = Vec::new();
        {
            let mut connection = self.connection();
            while connection.wants_write() {
                connection.write_tls(&mut records)?;
            }
        }
        sending.write_all(&records)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A connection whose handshake is over.
pub(crate) fn transport(connection: Connection, socket: TcpStream) -> io::Result<Transport> {
    let (reading, closing) = (socket.try_clone()?, socket.try_clone()?);
    let shared = Arc::new(SharedStream {
        connection: Mutex::new(connection),
        sending: Mutex::new(socket),
    });
    Ok(Transport {
        input: Box::new(TlsReader {
            shared: Arc::clone(&shared),
            socket: reading,
            raw: vec![0; RAW_BYTES],
            from: 0,
            to: 0,
        }),
        output: Box::new(TlsWriter { shared }),
        close: Arc::new(move || {
            let _ = closing.shutdown(Shutdown::Both);
        }),
        complaint: Arc::new(|| None),
    })
}

struct TlsReader {
    shared: Arc<SharedStream>,
    socket: TcpStream,
    /// Records that have not been taken in, `from` up to `to`.
    raw: Vec<u8>,
    from: usize,
    to: usize,
}

impl Read for TlsReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.shared.connection().reader().read(buffer) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                done => return done,
            }
            if self.from == self.to {
                self.from = 0;
                self.to = self.socket.read(&mut self.raw)?;
            }
            self.take_in()?;
        }
    }
}

impl TlsReader {
    /// Gives the connection what has come; nothing means the end.
    fn take_in(&mut self) -> io::Result<()> {
        let answers = {
            let mut connection = self.shared.connection();
            let mut records = &self.raw[self.from..self.to];
            self.from += connection.read_tls(&mut records)?;
            connection.process_new_packets().map_err(io::Error::other)?;
            connection.wants_write()
        };
        if answers {
            let mut sending = lock(&self.shared.sending);
            self.shared.send(&mut sending)?;
        }
        Ok(())
    }
}

struct TlsWriter {
    shared: Arc<SharedStream>,
}

impl Write for TlsWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut sending = lock(&self.shared.sending);
        let written = self.shared.connection().writer().write(bytes)?;
        self.shared.send(&mut sending)?;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        let mut sending = lock(&self.shared.sending);
        self.shared.send(&mut sending)?;
        sending.flush()
    }
}
