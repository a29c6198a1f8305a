//! Who may talk to the server, and what it gives out.

use soleus_studio::server::Server;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;

/// Starts a server on a folder of its own; its port and token.
fn start(name: &str) -> (u16, String, PathBuf) {
    let folder = std::env::temp_dir().join(format!("soleus-studio-{name}-{}", std::process::id()));
    std::fs::create_dir_all(folder.join("open")).unwrap();
    std::fs::write(folder.join("open/leg.osim"), include_bytes!("../../../models/leg_swing.osim")).unwrap();
    std::fs::write(folder.join("secret.mot"), "time\tx\n0\t1\n").unwrap();
    let server = Server::open(&[folder.join("open/leg.osim")]).unwrap();
    let address = server.address();
    let rest = address.strip_prefix("http://127.0.0.1:").unwrap();
    let (port, token) = rest.split_once("/?token=").unwrap();
    let (port, token) = (port.parse().unwrap(), token.to_string());
    std::thread::spawn(move || server.serve());
    (port, token, folder)
}

fn send(port: u16, text: &str) -> String {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    stream.set_read_timeout(Some(std::time::Duration::from_secs(10))).unwrap();
    stream.write_all(text.as_bytes()).unwrap();
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    String::from_utf8_lossy(&answer).into_owned()
}

fn status(port: u16, path: &str, host: &str, more: &str) -> u16 {
    let answer =
        send(port, &format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n{more}\r\n"));
    answer.split_whitespace().nth(1).and_then(|s| s.parse().ok()).unwrap_or(0)
}

#[test]
fn analytic_only_the_token_and_this_machine_come_in() {
    let (port, token, _) = start("door");
    let host = format!("127.0.0.1:{port}");
    let cookie = format!("Cookie: soleus_{port}={token}\r\n");
    assert_eq!(status(port, &format!("/?token={token}"), &host, ""), 200);
    assert_eq!(status(port, "/studio.js", &host, &cookie), 200);
    // The page itself says who answers it, and no cookie does: cookies go to all ports of a machine.
    let page =
        send(port, &format!("GET /?token={token} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n"));
    assert!(page.contains("<meta name=\"soleus-engine\" content=\"program\">"), "{page}");
    let cookies: Vec<&str> = page.lines().filter(|l| l.starts_with("set-cookie:")).collect();
    assert!(cookies.len() == 1 && cookies[0].contains(&format!("soleus_{port}=")), "{cookies:?}");
    assert_eq!(status(port, "/engine.wasm", &format!("localhost:{port}"), &cookie), 200);
    // Without the token, with a wrong one, with part of it.
    for path in
        ["/", "/studio.js", "/engine", "/?token=", "/?token=0123", &format!("/?token={}", &token[1..])]
    {
        assert_eq!(status(port, path, &host, ""), 401, "{path}");
    }
    assert_eq!(status(port, "/", &host, &format!("Cookie: soleus_{port}=x\r\n")), 401);
    // Another host, or a page of another place.
    for foreign in [
        "evil.example",
        &format!("evil.example:{port}"),
        "127.0.0.1",
        &format!("127.0.0.1.evil.example:{port}"),
    ] {
        assert_eq!(status(port, &format!("/?token={token}"), foreign, ""), 403, "{foreign}");
    }
    assert_eq!(status(port, "/engine", &host, &format!("{cookie}Origin: http://evil.example\r\n")), 403);
    assert_eq!(status(port, &format!("/?token={token}"), &host, ""), 200);
}

#[test]
fn analytic_no_path_leads_out_and_nothing_malformed_ends_it() {
    let (port, token, _) = start("paths");
    let host = format!("127.0.0.1:{port}");
    let cookie = format!("Cookie: soleus_{port}={token}\r\n");
    for path in [
        "/../Cargo.toml",
        "/..%2f..%2fetc/passwd",
        "/%2e%2e/secret.mot",
        "//etc/passwd",
        "/open/leg.osim",
        "/index.html.gz",
        "/bundle/index.html",
    ] {
        let found = status(port, path, &host, &cookie);
        assert!(found == 404 || found == 400, "{path}: {found}");
    }
    for text in [
        "",
        "\r\n\r\n",
        "GET\r\n\r\n",
        "GET / HTTP/9.9\r\n\r\n",
        "\u{0}\u{1}\u{2}",
        &"A".repeat(200_000),
        "POST / HTTP/1.1\r\nContent-Length: -5\r\n\r\n",
    ] {
        let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
        let _ = stream.write_all(text.as_bytes());
    }
    // A socket that is asked for, but not as one.
    assert_ne!(status(port, "/engine", &host, &cookie), 200);
    assert_eq!(status(port, &format!("/?token={token}"), &host, ""), 200);
}

/// The engine reads what lies beside the file that was opened, and nothing above.
#[test]
fn analytic_files_that_were_not_opened_are_not_read() {
    let (_, _, folder) = start("files");
    let (files, names) = soleus_studio::server::opened(&[folder.join("open/leg.osim")]).unwrap();
    assert_eq!(names, [folder.join("open/leg.osim")]);
    assert!(files.read(&names[0]).is_ok());
    for path in [folder.join("secret.mot"), folder.join("open/../secret.mot"), "/etc/passwd".into()] {
        assert!(files.read(&path).is_err() && !files.is_file(&path), "{}", path.display());
    }
    #[cfg(unix)]
    {
        let link = folder.join("open/link.mot");
        let _ = std::os::unix::fs::symlink(folder.join("secret.mot"), &link);
        assert!(files.read(&link).is_err());
    }
    // What a tool writes stays in memory.
    files.write(&folder.join("open/result.mot"), b"x").unwrap();
    assert!(!folder.join("open/result.mot").exists());
    assert_eq!(files.read(&folder.join("open/result.mot")).unwrap(), b"x");
}
