package e2e

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"company/internal/company"
	"company/internal/engine/replay"
	"company/internal/lib/hosttest"
	"company/test/testenv"
)

var updateRecords = flag.Bool(
	"update-records", false,
	"have the tests that play a stored record converse with the scripted model, and store the records again (make records)")

// playRecord replays a record file where no office, no config and no model is.
func playRecord(t *testing.T, file string, more ...string) (r replay.Report, err string) {
	t.Helper()
	h := testenv.New(t, nil, map[string]string{"README.md": "another repository\n"})
	done := h.Run(patience, append([]string{"replay", "--record", file, "-o", "json"}, more...)...)
	if json.Unmarshal([]byte(done.Stdout), &r) != nil {
		t.Fatalf("exit %d\n%s\n%s", done.Code, done.Stdout, done.Stderr)
	}
	return r, done.Stderr
}

// playStored plays the stored record of a test. converse has the conversation with the
// scripted model that the record is of, and checks what comes of it; it does so with
// -update-records alone. A record that is older than a prompt goes on being played, since
// its replies do not depend on that; the log says so.
func playStored(t *testing.T, name string, converse func(t *testing.T) *testenv.House) replay.Report {
	t.Helper()
	hosttest.NeedsDocker(t)
	file, err := filepath.Abs(filepath.Join("testdata", "records", name+".record"))
	if err != nil {
		t.Fatal(err)
	}
	if *updateRecords {
		h := converse(t)
		if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
		h.MustRun(patience, "replay", "t1", "--save", file)
	}
	r, said := playRecord(t, file, "--other-prompts")
	if !r.Same {
		t.Fatalf("the record does not hold any more. If that is meant, make it again: make records\n%+v\n%s",
			r.Divergence, said)
	}
	for _, w := range r.Warnings {
		if w.What == replay.OtherPrompt || w.What == replay.OtherSettings {
			t.Logf("the record is older than a prompt or a tool (%s, request %d); make records makes it again", w.Run, w.Request)
			break
		}
	}
	return r
}

// requestsOf counts the requests of each run of a replay; a run that did not end as wanted
// counts none.
func requestsOf(r replay.Report, status company.RunStatus) map[company.RunID]int {
	out := map[company.RunID]int{}
	for _, run := range r.Runs {
		if run.Status == status {
			out[run.Run] = run.Requests
		}
	}
	return out
}

var requestHash = regexp.MustCompile(`"request":"[0-9a-f]{64}"`)

// alterRecord writes a record file with another text in its conversations.
func alterRecord(t *testing.T, file, old, new string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	first, packed, _ := bytes.Cut(text, []byte("\n"))
	zip, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	content, err := io.ReadAll(zip)
	if err != nil {
		t.Fatal(err)
	}
	var lines bytes.Buffer
	changed := false
	for line := range bytes.Lines(content) {
		var l struct {
			Entry *replay.Entry `json:"entry"`
		}
		if json.Unmarshal(line, &l) == nil && l.Entry != nil && l.Entry.Run != "" &&
			bytes.Contains(append(l.Entry.Text, l.Entry.Data...), []byte(old)) {
			changed = true
			l.Entry.Text, l.Entry.Data = bytes.ReplaceAll(l.Entry.Text, []byte(old), []byte(new)),
				bytes.ReplaceAll(l.Entry.Data, []byte(old), []byte(new))
		}
		if l.Entry != nil && l.Entry.Kind == "call" { // a request with the recorded hash is the recorded one
			l.Entry.Data = requestHash.ReplaceAll(l.Entry.Data, []byte(`"request":"0"`))
		}
		if l.Entry != nil {
			if line, err = json.Marshal(l); err != nil {
				t.Fatal(err)
			}
			line = append(line, '\n')
		}
		if bytes.HasPrefix(line, []byte(`{"sha256"`)) {
			sum := sha256.Sum256(lines.Bytes())
			line = []byte(`{"sha256":"` + hex.EncodeToString(sum[:]) + "\"}\n")
		}
		lines.Write(line)
	}
	if !changed {
		t.Fatalf("no text of the record has %q", old)
	}
	out := bytes.NewBuffer(append(first, '\n'))
	to := gzip.NewWriter(out)
	_, err = to.Write(lines.Bytes())
	altered := filepath.Join(t.TempDir(), "altered.record")
	if err = errors.Join(err, to.Close(), os.WriteFile(altered, out.Bytes(), 0o600)); err != nil {
		t.Fatal(err)
	}
	return altered
}

// TestAlteredRecord: a record whose conversation was changed by hand diverges, with the run,
// the request and the message. The file that is cut off has no effect.
func TestAlteredRecord(t *testing.T) {
	hosttest.Long(t, "one of many walks; make test has one of each kind")
	t.Parallel()
	stored := filepath.Join("testdata", "records", "conflict.record")
	r, said := playRecord(t, alterRecord(t, stored, "greet better", "greet worse"))
	d := r.Divergence
	if r.Same || d == nil || d.Run != "t1-plan.1" || d.Request != 1 || !strings.Contains(said, "E_DIVERGED") {
		t.Fatalf("%+v\n%s", d, said)
	}
	if d.Message == 1 && strings.HasPrefix(d.Recorded, "system: ") {
		t.Log("the record is older than the manager's prompt, which differs first; make records makes it again")
	} else if d.Message != 2 || !strings.Contains(d.Recorded, "greet worse") ||
		!strings.Contains(d.Replayed, "greet better") {
		t.Errorf("%+v\n%s", d, said)
	}
	text, err := os.ReadFile(stored)
	if err != nil {
		t.Fatal(err)
	}
	cut := filepath.Join(t.TempDir(), "cut.record")
	if err := os.WriteFile(cut, text[:len(text)/2], 0o600); err != nil {
		t.Fatal(err)
	}
	h := testenv.New(t, nil, map[string]string{"README.md": "another repository\n"})
	if done := h.Run(patience, "replay", "--record", cut); done.Code != 1 || !strings.Contains(done.Stderr, "E_INVALID") ||
		!strings.Contains(done.Stderr, "cut off") {
		t.Errorf("exit %d: %s", done.Code, done.Stderr)
	}
}
