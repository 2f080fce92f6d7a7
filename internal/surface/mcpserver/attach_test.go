package mcpserver

import (
	"bytes"
	"context"
	"encoding/base64"
	"io"
	"log/slog"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"company/internal/company"
	"company/internal/lib/hosttest"
	"company/internal/present/view"
)

// connectIO is connect over two streams, as a client has it that starts company mcp.
func connectIO(t *testing.T, h Host, g Grants) *mcp.ClientSession {
	t.Helper()
	in, toServer := io.Pipe()
	fromServer, out := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		ended <- New(h, g, "test", slog.New(slog.DiscardHandler)).ServeIO(context.Background(), in, out)
		_ = out.Close() // never fails
	}()
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(
		t.Context(), &mcp.IOTransport{Reader: fromServer, Writer: toServer}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := session.Close(); err != nil {
			t.Error(err)
		}
		if err := <-ended; err != nil {
			t.Errorf("the server ended: %v", err)
		}
	})
	return session
}

// Contents of files reach the submission as they were, up to the bound of all files together.
func TestSubmitAttached(t *testing.T) {
	hosttest.NotRaced(t, "it carries megabytes; shorter messages are raced")
	h := newHost(t, "make the door open")
	var got view.Submission
	h.submit = func(s view.Submission) (company.TaskID, error) {
		got = s
		return "t2", nil
	}
	s := connectIO(t, h, Grants{Write: true})
	large := bytes.Repeat([]byte{0x89, 'P', 0, '\n'}, company.MaxAttachedBytes/4)
	text, code := call(t, s, "submit", m{"instruction": "open it", "attach": []m{
		{"name": "spec.md", "text": "# Door\n\"opens\"\n"},
		{"name": "a/b.png", "base64": base64.StdEncoding.EncodeToString(large)},
	}})
	if code != "" || !strings.Contains(text, "t2 is submitted") {
		t.Fatalf("%s\n%s", code, text)
	}
	if len(got.Attachments) != 2 || got.Attachments[0].Name != "spec.md" ||
		string(got.Attachments[0].Content) != "# Door\n\"opens\"\n" ||
		got.Attachments[1].Name != "a/b.png" || !bytes.Equal(got.Attachments[1].Content, large) {
		t.Errorf("%d files came", len(got.Attachments))
	}
}

// A file without one content, or with a path, is refused before anything is submitted.
func TestSubmitAttachedIsChecked(t *testing.T) {
	hosttest.NotRaced(t, "it carries megabytes; shorter messages are raced")
	h := newHost(t, "make the door open")
	h.submit = func(view.Submission) (company.TaskID, error) {
		t.Error("it is submitted")
		return "", nil
	}
	s := connectIO(t, h, Grants{Write: true})
	for name, x := range map[string]struct {
		file m
		code company.Code
		want string
	}{
		"no content":    {m{"name": "a.md"}, company.EUsage, "a.md is not attached"},
		"two contents":  {m{"name": "a.md", "text": "a", "base64": "YQ=="}, company.EUsage, "give one of the two"},
		"broken base64": {m{"name": "a\x1b[2J.png", "base64": "%%%"}, company.EUsage, "invalid base64"},
		"no name":       {m{"text": "a"}, company.EInvalid, "name"},
		"an empty name": {m{"name": "", "text": "a"}, company.EInvalid, "name"},
		"a path":        {m{"name": "id_rsa", "path": "/root/.ssh/id_rsa"}, company.EInvalid, "path"},
		"another type":  {m{"name": "a.md", "text": 7}, company.EInvalid, "submit takes instruction"},
		"far too much":  {m{"name": "a.md", "text": strings.Repeat("x", maxSubmission)}, company.EInvalid, "the limit is"},
		"null":          {m{"name": "a.md", "text": nil}, company.EUsage, "give one of the two"},
	} {
		text, code := call(t, s, "submit", m{"instruction": "open it", "attach": []m{x.file}})
		if code != x.code || !strings.Contains(text, x.want) || strings.Contains(text, "\x1b") {
			t.Errorf("%s: %s\n%.2000s", name, code, text)
		}
	}
	// Other tools keep their bound.
	if text, code := call(t, s, "tell",
		m{"subtask": "t1-01", "text": strings.Repeat("x", 2*maxArguments)}); code != company.EInvalid ||
		!strings.Contains(text, "the limit is 1024 KiB") {
		t.Errorf("tell: %s\n%.2000s", code, text)
	}
}
