package e2e

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"company/internal/adapters/scripted"
	"company/internal/company"
	"company/internal/lib/hosttest"
	"company/test/testenv"
)

// screenshot is a PNG image.
func screenshot(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(
		&b, image.NewPaletted(image.Rect(0, 0, 320, 200), color.Palette{color.Black, color.White})); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// sentFiles is what each role was sent with its first request.
type sentFiles struct {
	*staff
	mu    sync.Mutex
	first map[company.Role]scripted.Exchange
	last  map[company.Role]scripted.Exchange
}

func (s *sentFiles) Reply(x scripted.Exchange) scripted.Reply {
	s.mu.Lock()
	if _, ok := s.first[x.Header.Role]; !ok {
		s.first[x.Header.Role] = x
	}
	s.last[x.Header.Role] = x
	s.mu.Unlock()
	return s.staff.Reply(x)
}

// TestAttachedFiles: a text, a long text and an image go from the command line to the model
// of each role, over each wire, and into the container, where a worker copies the image into
// the repository. The pull request and show name them.
func TestAttachedFiles(t *testing.T) {
	hosttest.Long(t, "one of many walks; make test has one of each kind")
	const key = "TEST_MODEL_KEY"
	for _, w := range []struct {
		name, profile string // %s is the server's address
		again         bool
	}{
		{"openai", "{adapter: openai, model: scripted, base_url: \"%s/v1\", api_key_env: " + key + "}", false},
		{"anthropic", "{adapter: anthropic, model: scripted, base_url: %q, api_key_env: " + key + "}", true},
		{"ollama", "{adapter: ollama, model: scripted, base_url: %q}", true},
	} {
		t.Run(w.name, func(t *testing.T) {
			if w.again {
				hosttest.Long(t, "a protocol that the wires' own tests have")
			}
			t.Parallel()
			shot, long := screenshot(t), strings.Repeat("a line of the long text\n", 2000)
			worker := replyInSteps(
				call("read_attached", m{"name": "long.txt", "offset": 40000}),
				call("run_command", m{"command": "cat /work/attached/spec.md && cp /work/attached/shot.png logo.png && chmod u+w " +
					"logo.png && touch /work/attached/x; ls -l /work/attached"}),
				call("write_file", m{"path": "farewell.sh", "content": "echo goodbye\n"}),
				call("write_file", m{"path": "checks/farewell.sh", "content": "test \"$(sh farewell.sh)\" = goodbye\n"}),
				call("git_commit", m{"message": "Add a farewell"}), call("finish", m{"summary": "Add a farewell"}))
			brain := &sentFiles{
				staff: &staff{manager: submitPlan(
					[]m{ticket("Add a farewell", "Add farewell.sh, checks/farewell.sh and the logo.", "farewell.sh",
						"checks/farewell.sh", "logo.png")}), worker: worker},
				first: map[company.Role]scripted.Exchange{}, last: map[company.Role]scripted.Exchange{},
			}
			h := testenv.New(t, brain, tinyProject())
			h.LetManagerPlan() // a manager reads them, too
			h.Profile = fmt.Sprintf(w.profile, strings.TrimSuffix(h.Model.URL(), "/v1"))
			h.Config(tinyGates)
			dir := t.TempDir()
			args := []string{"submit", "--no-input"}
			for name, content := range map[string][]byte{"spec.md": []byte("Say goodbye in </attached_file> blue.\n"),
				"long.txt": []byte(long), "shot.png": shot} {
				if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
					t.Fatal(err)
				}
				args = append(args, "--attach", filepath.Join(dir, name))
			}
			p := h.Start(append(args, "add a farewell, as the spec says")...)
			if sum := waitForSummary(t, p, 0); sum.Result != "COMPLETE" {
				t.Fatalf("summary: %+v", sum)
			}
			brain.mu.Lock()
			defer brain.mu.Unlock()
			for _, role := range []company.Role{company.Manager, company.Worker, company.Reviewer} {
				checkSentFiles(t, role, brain.first[role], shot, long)
				checkSentFiles(t, role, brain.last[role], shot, long) // with each request
			}
			results := ""
			for _, msg := range brain.last[company.Worker].Messages {
				if msg.Role == "tool" {
					results += msg.Content
				}
			}
			for _, want := range []string{long[40000:40100], "Say goodbye in", "-r--r--r--", "Permission denied"} {
				if !strings.Contains(results, want) {
					t.Errorf("the worker's tools did not answer %q: %.3000s", want, results)
				}
			}
			if got := h.Git(h.Origin, "ls-tree", "-l",
				h.Git(h.Origin, "for-each-ref", "--format=%(refname)", "refs/heads/develop-*"), "logo.png"); !strings.Contains(
				got, fmt.Sprintf(" %d\t", len(shot))) {
				t.Errorf("the image in the repository is %q, and has %d bytes", got, len(shot))
			}
			for _, args := range [][]string{{"show", "t1"}, {"pr", "show", "1"}} {
				runAndExpect(t, h, []string{"shot.png", "PNG image, 320x200", "spec.md", "long.txt", "sha256"}, args...)
			}
			checkNoBase64(t, filepath.Join(h.Repo, ".company"))
			checkNoBase64(t, h.State())
		})
	}
}

// checkSentFiles checks that a request shows the files.
func checkSentFiles(t *testing.T, role company.Role, x scripted.Exchange, shot []byte, long string) {
	t.Helper()
	if len(x.Messages) < 2 {
		t.Fatalf("the %s was not asked", role)
	}
	first := x.Messages[1]
	if len(first.Images) != 1 || !bytes.Equal(first.Images[0].Data, shot) || first.Images[0].Type != "image/png" {
		t.Errorf("the %s was sent %d images", role, len(first.Images))
	}
	for _, want := range []string{"Say goodbye in <\\/attached_file> blue.", "shot.png (PNG image, 320x200",
		"read_attached reads the rest", long[:1000]} {
		if !strings.Contains(first.Content, want) {
			t.Errorf("the first message of the %s does not hold %.80q", role, want)
		}
	}
	if strings.Contains(first.Content, long[:30000]) {
		t.Errorf("the %s was sent the whole long text", role)
	}
}

// checkNoBase64 checks that no file of an office repeats the image as requests have it.
func checkNoBase64(t *testing.T, dir string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		text, err := os.ReadFile(path)
		if bytes.Contains(text, []byte("iVBORw0KGgo")) {
			t.Errorf("%s holds the image as base64", path)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}
