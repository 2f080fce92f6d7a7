package e2e

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"company/internal/lib/hosttest"
	"company/test/testenv"
)

// otherUser is a user without an account: every command of the README must work without
// root, in an empty home.
const otherUser = 61_184

// TestReadmeInATerminal types the commands under "Use it" of the README, word for word, behind the line of "Install"
// that puts the program into PATH, at a terminal of 80 by 24 columns, as a user who is not root. Nothing is configured:
// the model is the one that an Ollama has. Each command ends well, and no line of its output is wider than the
// terminal.
func TestReadmeInATerminal(t *testing.T) {
	hosttest.Long(t, "one of many walks; make test has one of each kind")
	t.Parallel()
	hosttest.NeedsDocker(t)
	h := testenv.New(t, farewells(), tinyProject())
	h.Profile = "none"
	h.Config(tinyGates)
	h.Env = append(h.Env, "OLLAMA_HOST="+strings.TrimSuffix(h.Model.URL(), "/v1"),
		"XDG_CACHE_HOME="+filepath.Join(h.Dir, "cache"))

	clone := filepath.Join(h.Dir, "clone")
	for _, dir := range []string{"bin", "your", "../cache"} {
		if err := os.MkdirAll(filepath.Join(clone, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	run(t, "cp", h.Bin, filepath.Join(clone, "bin", "company"))
	if err := os.Rename(h.Repo, filepath.Join(clone, "your", "repository")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(clone, "your", "repository"), h.Repo); err != nil {
		t.Fatal(err)
	}
	term := openTmux(t, h, clone)
	var shown []string
	for _, command := range readmeCommands(t) {
		screen := term.run(command)
		shown = append(shown, screen)
		for _, line := range strings.Split(screen, "\n")[1:] {
			words := strings.Fields(line)
			if w := len([]rune(line)); w > 80 && len(words[len(words)-1]) < 50 { // a path cannot be broken
				t.Errorf("%s: a line of %d columns wraps:\n%s", command, w, line)
			}
		}
	}
	all := strings.Join(shown, "\n")
	t.Log(all)
	for _, words := range []string{"t1 is done", "#1 open", "company resume"} {
		if !strings.Contains(all, words) {
			t.Errorf("no screen says %q", words)
		}
	}
	term.close() // it is the other user's, as its socket is
	ownHouse(t, h, os.Geteuid())
	checkDelivered(t, h, 1, 1, 1)
}

// ownHouse gives everything of a house to a user, where this one is root.
func ownHouse(t *testing.T, h *testenv.House, user int) {
	t.Helper()
	if os.Geteuid() != 0 {
		return
	}
	if err := filepath.WalkDir(h.Dir, func(path string, _ fs.DirEntry, err error) error {
		return errors.Join(err, os.Lchown(path, user, user))
	}); err != nil {
		t.Fatal(err)
	}
}

// readmeCommands are the commands of the README's first block under "Use it", behind the line of
// its first block under "Install" that puts the program into PATH.
func readmeCommands(t *testing.T) []string {
	t.Helper()
	root, err := testenv.Root()
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(root, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	block := func(title string) []string {
		_, part, _ := strings.Cut(string(text), "\n## "+title+"\n")
		_, part, _ = strings.Cut(part, "\n```\n")
		commands, _, _ := strings.Cut(part, "\n```\n")
		return strings.Split(commands, "\n")
	}
	install, use := block("Install"), block("Use it")
	path := slices.IndexFunc(install, func(line string) bool { return strings.HasPrefix(line, "export PATH=") })
	if path < 0 || len(use) <= 5 {
		t.Fatal("the README has no commands under \"Install\" or \"Use it\"")
	}
	return append([]string{install[path]}, use...)
}

// tmux is a shell in a terminal of 80 by 24 columns.
type tmux struct {
	t      *testing.T
	house  *testenv.House
	socket string
	dir    string
	close  func() // ends its shell, and itself
}

// shellPrompt shows how the last command ended.
const shellPrompt = `[$?] ready$ `

// openTmux starts a shell in dir for a user who is not root, and gives the house to
// that user.
func openTmux(t *testing.T, h *testenv.House, dir string) *tmux {
	t.Helper()
	if _, err := exec.LookPath("tmux"); err != nil {
		hosttest.Lacks(t, "tmux is not installed: run scripts/setup.sh test")
	}
	if err := os.Chmod(filepath.Dir(h.Dir), 0o755); err != nil { // a test's folder is closed to others
		t.Fatal(err)
	}
	ownHouse(t, h, otherUser)
	m := &tmux{t: t, house: h, socket: filepath.Join(h.Dir, "tmux"), dir: dir}
	m.must("-f", "/dev/null", "new-session", "-d", "-x", "80", "-y", "24", "exec bash --norc --noprofile",
		";", "set-option", "-g", "status", "off", ";", "set-option", "-g", "history-limit", "20000", ";", "resize-window",
		"-x", "80", "-y", "24")
	m.close = sync.OnceFunc(func() {
		if _, err := m.call("kill-server"); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(m.close)
	m.must("send-keys", "-l", "PS1='"+shellPrompt+"'; cd "+dir+"; unset PAGER\n")
	m.awaitPrompt("PS1=")
	return m
}

// call runs a command of tmux as the user.
func (m *tmux) call(args ...string) (string, error) {
	cmd := exec.Command("tmux", append([]string{"-S", m.socket}, args...)...)
	cmd.Dir, cmd.Env = m.dir, append(slices.Clone(m.house.Env), "TERM=xterm-256color", "SHELL=/bin/bash", "LANG=C.UTF-8")
	if os.Geteuid() == 0 {
		c := &syscall.Credential{Uid: otherUser, Gid: otherUser}
		if st, err := os.Stat("/var/run/docker.sock"); err == nil {
			c.Groups = []uint32{st.Sys().(*syscall.Stat_t).Gid}
		}
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: c}
	}
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("tmux %s: %w: %s", args[0], err, errs.String())
	}
	return string(out), err
}

func (m *tmux) must(args ...string) string {
	m.t.Helper()
	out, err := m.call(args...)
	if err != nil {
		m.t.Fatal(err)
	}
	return out
}

// run types a command and gives what the terminal shows from it to the next prompt,
// the lines that wrapped joined. The command must end well.
func (m *tmux) run(command string) string {
	m.t.Helper()
	m.must("send-keys", "-R") // the screen is empty, without a prompt
	m.must("clear-history")
	m.must("send-keys", "-l", command+"\n")
	text := m.awaitPrompt(command)
	body, prompt := text[:strings.LastIndex(text, "\n")], text[strings.LastIndex(text, "\n")+1:]
	if !strings.HasPrefix(prompt, "[0] ") {
		m.t.Fatalf("%s: ended with %s:\n%s", command, prompt, body)
	}
	return body
}

// awaitPrompt waits for the prompt behind a command. A pager is left as a person does.
func (m *tmux) awaitPrompt(command string) string {
	m.t.Helper()
	text := ""
	hosttest.Eventually(m.t, command+" ends", func() (any, bool) {
		text = strings.TrimRight(m.must("capture-pane", "-p", "-J", "-S", "-"), " \n")
		last := text[strings.LastIndex(text, "\n")+1:]
		if last == ":" || last == "(END)" || strings.HasPrefix(last, "--More--") {
			m.must("send-keys", "q")
		}
		return text, strings.Contains(text, command) && strings.HasSuffix(last, "ready$")
	})
	return text
}
