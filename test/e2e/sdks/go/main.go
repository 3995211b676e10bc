// Driver drives one client of the Go SDK for the table test of refusals: commands in, outcomes out, one JSON object a line.
//
// driver legacy|modern. {"id":1,"do":"open","url":"…","headers":{}}, {"id":2,"do":"call","tool":"echo","text":"hi"}.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

type command struct {
	ID      int               `json:"id"`
	Do      string            `json:"do"`
	URL     string            `json:"url"`
	Headers map[string]string `json:"headers"`
	Tool    string            `json:"tool"`
	Text    string            `json:"text"`
}

type outcome struct {
	ID   int    `json:"id"`
	OK   bool   `json:"ok"`
	Text string `json:"text"`
}

// withHeaders adds headers to every request.
type withHeaders map[string]string

func (headers withHeaders) RoundTrip(request *http.Request) (*http.Response, error) {
	sent := request.Clone(request.Context())
	for name, value := range headers {
		sent.Header.Set(name, value)
	}
	return http.DefaultTransport.RoundTrip(sent)
}

func main() {
	revision := "2025-11-25"
	if os.Args[1] == "modern" {
		revision = "2026-07-28"
	}
	var session *mcp.ClientSession
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var asked command
		if err := json.Unmarshal(lines.Bytes(), &asked); err != nil {
			panic(err)
		}
		if asked.Do == "open" {
			opened, err := open(asked, revision)
			session = opened
			say(asked.ID, "", err)
			continue
		}
		go func(current *mcp.ClientSession) {
			text, err := perform(current, asked)
			say(asked.ID, text, err)
		}(session)
	}
}

var writing sync.Mutex

func say(id int, text string, err error) {
	if err != nil {
		text = err.Error()
	}
	line, _ := json.Marshal(outcome{id, err == nil, text})
	writing.Lock()
	defer writing.Unlock()
	fmt.Println(string(line))
}

func open(asked command, revision string) (*mcp.ClientSession, error) {
	client := mcp.NewClient(&mcp.Implementation{Name: "refusals", Version: "1"}, nil)
	transport := &mcp.StreamableClientTransport{
		Endpoint:   asked.URL,
		HTTPClient: &http.Client{Transport: withHeaders(asked.Headers)},
	}
	return client.Connect(context.Background(), transport, &mcp.ClientSessionOptions{ProtocolVersion: revision})
}

func perform(session *mcp.ClientSession, asked command) (string, error) {
	if asked.Do == "close" {
		return "", session.Close()
	}
	arguments := map[string]any{"text": asked.Text}
	result, err := session.CallTool(context.Background(), &mcp.CallToolParams{Name: asked.Tool, Arguments: arguments})
	if err != nil {
		return "", err
	}
	return result.Content[0].(*mcp.TextContent).Text, nil
}
