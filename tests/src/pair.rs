//! A client and a server, the link between them, and time that moves only when told.

use barewire::client::Client;
use barewire::server::Server;
use barewire::transport::Stdio;
use barewire::{ClientConfig, Error, Implementation, Instant, Machine, ServerConfig, client, server};

use crate::Random;

/// How bytes travel from one side to the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Link {
    /// As they are offered.
    Whole,
    /// Cut at random places.
    Cut,
    /// One byte at a time.
    Bytes,
}

/// A client and a server that talk to each other.
pub struct Pair {
    /// The client, behind its framing.
    pub client: Stdio<Client>,
    /// The server, behind its framing.
    pub server: Stdio<Server>,
    /// What the client told, in order.
    pub client_events: Vec<client::Event>,
    /// What the server told, in order.
    pub server_events: Vec<server::Event>,
    /// Every line that the client sent.
    pub client_lines: String,
    /// Every line that the server sent.
    pub server_lines: String,
    link: Link,
    random: Random,
    now: Instant,
}

/// A client that speaks everything and can do everything.
pub fn client_config() -> ClientConfig {
    let mut config = ClientConfig::new(Implementation::new("test client", "1"), [1; 32]);
    config
        .set_capabilities(
            r#"{"roots":{"listChanged":true},"sampling":{"tools":{}},"elicitation":{"form":{},"url":{}}}"#,
        )
        .expect("capabilities are an object");
    config
}

/// A server that speaks everything.
pub fn server_config() -> ServerConfig {
    ServerConfig::new(Implementation::new("test server", "1"), [2; 32])
}

impl Pair {
    /// Joins a client and a server; nothing has been sent yet.
    pub fn new(client: ClientConfig, server: ServerConfig, link: Link, random: Random) -> Pair {
        Pair {
            client: Stdio::new(Client::new(client, Instant::ZERO).expect("a client")),
            server: Stdio::new(Server::new(server).expect("a server")),
            client_events: Vec::new(),
            server_events: Vec::new(),
            client_lines: String::new(),
            server_lines: String::new(),
            link,
            random,
            now: Instant::ZERO,
        }
    }

    /// The time of this pair.
    pub fn now(&self) -> Instant {
        self.now
    }

    /// Carries bytes in both directions and collects events until nothing moves.
    pub fn drive(&mut self) -> Result<(), Error> {
        loop {
            let mut moved = false;
            moved |= carry(
                &mut self.client,
                &mut self.server,
                &mut self.client_lines,
                self.link,
                &mut self.random,
                self.now,
            )?;
            self.server_events.extend(std::iter::from_fn(|| self.server.machine_mut().poll_event()));
            moved |= carry(
                &mut self.server,
                &mut self.client,
                &mut self.server_lines,
                self.link,
                &mut self.random,
                self.now,
            )?;
            self.client_events.extend(std::iter::from_fn(|| self.client.machine_mut().poll_event()));
            if !moved {
                return Ok(());
            }
        }
    }

    /// Lets time pass, stopping at every deadline on the way.
    pub fn advance(&mut self, milliseconds: u64) -> Result<(), Error> {
        let end = self.now.after(milliseconds);
        loop {
            let client = self.client.machine().poll_timeout();
            let server = self.server.machine().poll_timeout();
            let due = client.into_iter().chain(server).filter(|&due| due <= end).min();
            self.now = due.map_or(end, |due| due.max(self.now));
            self.client.machine_mut().handle_timeout(self.now);
            self.server.machine_mut().handle_timeout(self.now);
            self.drive()?;
            if self.now >= end && due.is_none_or(|due| due >= end) {
                return Ok(());
            }
        }
    }

    /// The client's side is closed: the server reads the end of its input.
    pub fn close_client(&mut self) -> Result<(), Error> {
        self.client.machine_mut().close();
        self.drive()?;
        self.server.receive_eof(self.now)?;
        self.drive()
    }

    /// The client's events since the last call.
    pub fn take_client_events(&mut self) -> Vec<client::Event> {
        std::mem::take(&mut self.client_events)
    }

    /// The server's events since the last call.
    pub fn take_server_events(&mut self) -> Vec<server::Event> {
        std::mem::take(&mut self.server_events)
    }
}

/// Carries what one side has to send to the other; true if anything moved.
fn carry<From: Machine, To: Machine>(
    from: &mut Stdio<From>,
    to: &mut Stdio<To>,
    lines: &mut String,
    link: Link,
    random: &mut Random,
    now: Instant,
) -> Result<bool, Error> {
    let mut moved = false;
    loop {
        let data = from.data_to_send();
        if data.is_empty() {
            return Ok(moved);
        }
        let count = match link {
            Link::Whole => data.len(),
            Link::Cut => 1 + random.below(data.len()),
            Link::Bytes => 1,
        };
        let data = data[..count].to_vec();
        from.consume(count);
        // Only whole characters can be appended; a cut inside one is rare and only the record suffers.
        lines.push_str(&String::from_utf8_lossy(&data));
        to.receive_data(now, &data)?;
        moved = true;
    }
}
