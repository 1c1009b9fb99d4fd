//! The server: on the loopback address only, until it is stopped with Ctrl-C.

use std::io::IsTerminal;
use std::net::{Ipv4Addr, SocketAddr};
use std::process::{Command, Stdio};

use tokio::net::TcpListener;

use super::{Settings, router};

/// The port where none was asked for, if it is free.
const PORT: u16 = 7733;

/// Serves until the process ends. `port` 0 takes any; without one, the usual one if it is free, else any.
///
/// # Errors
/// The port that was asked for is taken, or the system lends none.
pub fn serve(port: Option<u16>, open: bool, settings: impl FnOnce(u16) -> Settings) -> std::io::Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        let listener = match port {
            Some(port) => bind(port).await?,
            None => match bind(PORT).await {
                Ok(listener) => listener,
                Err(_) => bind(0).await?,
            },
        };
        let port = listener.local_addr()?.port();
        let address = format!("http://127.0.0.1:{port}/");
        println!("the lab book is at {address}\nCtrl-C ends it");
        if open && std::io::stdout().is_terminal() {
            show(&address);
        }
        axum::serve(listener, router(settings(port))).await
    })
}

async fn bind(port: u16) -> std::io::Result<TcpListener> {
    TcpListener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, port))).await
}

/// Asks the system to open the page; where it cannot, the address stands in the terminal.
fn show(address: &str) {
    let mut command = match std::env::consts::OS {
        "macos" => Command::new("open"),
        "windows" => Command::new("explorer"),
        _ => Command::new("xdg-open"),
    };
    let silent = command.arg(address).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    // No such program: then nothing opens.
    let _ = silent.spawn();
}
