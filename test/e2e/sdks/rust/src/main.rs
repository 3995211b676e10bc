//! Drives one client of the Rust SDK for the table test of refusals: commands in, outcomes out, one JSON object a line.
//!
//! `driver legacy|modern`. `{"id":1,"do":"open","url":"…","headers":{}}`, `{"id":2,"do":"call","tool":"echo","text":"hi"}`.

use std::{collections::HashMap, sync::Arc};

use rmcp::{
    ClientLifecycleMode, ClientServiceExt, RoleClient,
    model::{CallToolRequestParams, ProtocolVersion},
    service::{Peer, RunningService},
    transport::{
        StreamableHttpClientTransport, streamable_http_client::StreamableHttpClientTransportConfig,
    },
};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt, BufReader},
    sync::Mutex,
};

type Client = Arc<Mutex<Option<RunningService<RoleClient, ()>>>>;

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let modern = std::env::args().nth(1).as_deref() == Some("modern");
    let client = Client::default();
    let mut lines = BufReader::new(tokio::io::stdin()).lines();
    while let Ok(Some(line)) = lines.next_line().await {
        let command: Value = serde_json::from_str(&line).expect("a command");
        let client = client.clone();
        tokio::spawn(async move {
            let outcome = perform(&command, client, modern).await;
            let (ok, text) = match outcome {
                Ok(text) => (true, text),
                Err(text) => (false, text),
            };
            println!("{}", json!({ "id": command["id"], "ok": ok, "text": text }));
        });
    }
}

async fn perform(command: &Value, client: Client, modern: bool) -> Result<String, String> {
    let text = |name: &str| command[name].as_str().unwrap_or_default().to_owned();
    match command["do"].as_str() {
        Some("open") => {
            let opened = open(text("url"), &command["headers"], modern).await?;
            client.lock().await.replace(opened);
            Ok(String::new())
        }
        Some("close") => {
            let closed = client.lock().await.take();
            if let Some(service) = closed {
                service.cancel().await.map_err(|error| error.to_string())?;
            }
            Ok(String::new())
        }
        _ => {
            let peer: Peer<RoleClient> = match client.lock().await.as_ref() {
                Some(service) => service.peer().clone(),
                None => return Err("not open".to_owned()),
            };
            let arguments = json!({ "text": text("text") })
                .as_object()
                .cloned()
                .unwrap_or_default();
            let request = CallToolRequestParams::new(text("tool")).with_arguments(arguments);
            let result = peer
                .call_tool(request)
                .await
                .map_err(|error| error.to_string())?;
            let value = serde_json::to_value(&result).map_err(|error| error.to_string())?;
            Ok(value["content"][0]["text"]
                .as_str()
                .unwrap_or_default()
                .to_owned())
        }
    }
}

async fn open(
    url: String,
    headers: &Value,
    modern: bool,
) -> Result<RunningService<RoleClient, ()>, String> {
    let mut custom = HashMap::new();
    for (name, value) in headers.as_object().into_iter().flatten() {
        let name = name.parse().map_err(|error| format!("{error}"))?;
        let value = value
            .as_str()
            .unwrap_or_default()
            .parse()
            .map_err(|error| format!("{error}"))?;
        custom.insert(name, value);
    }
    let config = StreamableHttpClientTransportConfig::with_uri(url).custom_headers(custom);
    let lifecycle = if modern {
        ClientLifecycleMode::Discover {
            preferred_versions: vec![ProtocolVersion::V_2026_07_28],
        }
    } else {
        ClientLifecycleMode::Initialize
    };
    ().serve_with_lifecycle(
        StreamableHttpClientTransport::from_config(config),
        lifecycle,
    )
    .await
    .map_err(|error| error.to_string())
}
