//! The local server of `soleus studio`: the page, and a session for it behind a socket. Only this machine reaches it, and of this machine
//! only who has the token.

mod bundle;
mod folder;
mod socket;

use axum::Router;
use axum::extract::{Request, State, WebSocketUpgrade};
use axum::http::{HeaderMap, HeaderName, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use folder::OpenedFiles;
use soleus::Error;
use soleus::files::Files;
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Largest message of a page, bytes: files travel in one.
const LARGEST_MESSAGE: usize = 1 << 30;

/// What every request is held against.
struct Door {
    token: String,
    port: u16,
    files: Arc<OpenedFiles>,
    names: Vec<PathBuf>,
}

/// A server that waits for a page.
pub struct Server {
    listener: std::net::TcpListener,
    door: Arc<Door>,
}

impl Server {
    /// Opens files (or all files in folders) and takes a port that is free.
    pub fn open(files: &[PathBuf]) -> Result<Self, Error> {
        let (files, names) = OpenedFiles::open(files)?;
        let wrong = |e: std::io::Error| Error::content(Path::new("studio"), 0, "", e.to_string(), "");
        let listener = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(wrong)?;
        listener.set_nonblocking(true).map_err(wrong)?;
        let port = listener.local_addr().map_err(wrong)?.port();
        let mut random = [0_u8; 16];
        getrandom::fill(&mut random).map_err(|e| wrong(std::io::Error::other(e.to_string())))?;
        let token = random.iter().map(|b| format!("{b:02x}")).collect();
        Ok(Server { listener, door: Arc::new(Door { token, port, files: Arc::new(files), names }) })
    }

    /// Where the page is, the token in it.
    pub fn address(&self) -> String {
        format!("http://127.0.0.1:{}/?token={}", self.door.port, self.door.token)
    }

    /// Serves until the program ends.
    pub fn serve(self) -> Result<(), Error> {
        let wrong = |e: std::io::Error| Error::content(Path::new("studio"), 0, "", e.to_string(), "");
        let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build().map_err(wrong)?;
        runtime.block_on(async {
            let listener = tokio::net::TcpListener::from_std(self.listener).map_err(wrong)?;
            let app = Router::new()
                .route("/", get(index))
                .route("/engine", get(engine))
                .fallback(asset)
                .layer(middleware::from_fn_with_state(self.door.clone(), guard))
                .with_state(self.door);
            axum::serve(listener, app).await.map_err(wrong)
        })
    }
}

/// Lets a request in that comes for this machine by name and has the token, in the address or in a cookie.
async fn guard(State(door): State<Arc<Door>>, request: Request, next: Next) -> Response {
    let headers = request.headers();
    let is_ours =
        |host: &str| ["127.0.0.1", "localhost"].iter().any(|h| host == format!("{h}:{}", door.port));
    if !headers.get(header::HOST).and_then(|h| h.to_str().ok()).is_some_and(is_ours) {
        return (StatusCode::FORBIDDEN, "this server accepts requests for 127.0.0.1 only").into_response();
    }
    // A page of another place may not open the socket, whatever cookies the browser adds.
    if let Some(origin) = headers.get(header::ORIGIN)
        && !origin.to_str().ok().and_then(|o| o.strip_prefix("http://")).is_some_and(is_ours)
    {
        return (StatusCode::FORBIDDEN, "this server accepts requests from its own page only")
            .into_response();
    }
    let query = request.uri().query().unwrap_or_default();
    let in_query = query.split('&').filter_map(|p| p.strip_prefix("token=")).any(|t| same(t, &door.token));
    if !in_query && !cookies(headers, &door).any(|t| same(t, &door.token)) {
        return (StatusCode::UNAUTHORIZED, "open the address that `soleus studio` printed").into_response();
    }
    next.run(request).await
}

/// Tokens in the cookies of a request. Cookies are shared by all ports of a machine, so their name has the port.
fn cookies<'h>(headers: &'h HeaderMap, door: &Door) -> impl Iterator<Item = &'h str> {
    let name = format!("soleus_{}=", door.port);
    let all = headers.get_all(header::COOKIE).into_iter().filter_map(|c| c.to_str().ok());
    all.flat_map(|c| c.split(';')).filter_map(move |c| c.trim().strip_prefix(&name))
}

/// Compares all letters, however early they differ.
fn same(a: &str, b: &str) -> bool {
    a.len() == b.len() && a.bytes().zip(b.bytes()).fold(0, |d, (x, y)| d | (x ^ y)) == 0
}

/// What a page may load, and from where.
const POLICY: &str = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'; style-src 'self' 'unsafe-inline'; \
                      connect-src 'self'; img-src 'self' data: blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

async fn index(State(door): State<Arc<Door>>) -> Response {
    let mut response = bundle::index()
        .map_or_else(not_there, |text| (headers("text/html; charset=utf-8"), text).into_response());
    let token = format!("soleus_{}={}; HttpOnly; SameSite=Strict; Path=/", door.port, door.token);
    if let Ok(value) = token.parse() {
        response.headers_mut().append(header::SET_COOKIE, value);
    }
    response
}

/// A file of the page, by its one name; there are no others.
async fn asset(request: Request) -> Response {
    let name = request.uri().path().trim_start_matches('/');
    bundle::find(name).map_or_else(not_there, page)
}

fn page((kind, bytes): (&'static str, &'static [u8])) -> Response {
    ([(header::CONTENT_ENCODING, "gzip")], headers(kind), bytes).into_response()
}

fn headers(kind: &'static str) -> [(HeaderName, &'static str); 5] {
    [
        (header::CONTENT_TYPE, kind),
        (header::CACHE_CONTROL, "no-store"),
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
    ]
}

fn not_there() -> Response {
    (StatusCode::NOT_FOUND, "no such page").into_response()
}

async fn engine(State(door): State<Arc<Door>>, upgrade: WebSocketUpgrade) -> Response {
    let upgrade = upgrade.max_message_size(LARGEST_MESSAGE).max_frame_size(LARGEST_MESSAGE);
    upgrade.on_upgrade(move |socket| socket::attend(socket, door.files.clone(), door.names.clone()))
}

/// The files of a server as the engine sees them, and the names of those that were opened.
pub fn opened(files: &[PathBuf]) -> Result<(Arc<dyn Files + Send>, Vec<PathBuf>), Error> {
    let (files, names) = OpenedFiles::open(files)?;
    Ok((Arc::new(files), names))
}

/// Opens an address in the user's browser. False if there is nothing to open it with.
pub fn browse(address: &str) -> bool {
    let (program, arguments): (&str, &[&str]) = match std::env::consts::OS {
        "macos" => ("open", &[]),
        "windows" => ("rundll32", &["url.dll,FileProtocolHandler"]),
        _ => ("xdg-open", &[]),
    };
    let quiet = std::process::Stdio::null;
    let mut command = std::process::Command::new(program);
    command.args(arguments).arg(address).stdin(quiet()).stdout(quiet()).stderr(quiet()).spawn().is_ok()
}
