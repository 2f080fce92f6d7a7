package agenttools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"company/internal/adapters"
	"company/internal/agent"
	"company/internal/company"
	"company/internal/gitops/gitexec/gitexectest"
	"company/internal/toolbox/toolproto"
)

func namesOf(tools []agent.Tool) (names []string) {
	for _, t := range tools {
		names = append(names, t.Spec.Name)
	}
	return names
}

// registries are served, or not.
type registries struct {
	Dependencies
	served bool
}

func (r registries) IsEnabled() bool { return r.served }

// A tool that a run has no use for is in no request, and a call of it is answered all the same.
func TestToolsFitTheSituation(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		config Config
		want   string
	}{
		"no registry": {Config{}, "check_process git_commit todo note escalate finish"},
		"none served": {Config{Dependencies: registries{}}, "check_process git_commit todo note escalate finish"},
		"registries":  {Config{Dependencies: registries{served: true}}, "check_process git_commit add_dependency todo note escalate finish"},
		"a merger":    {Config{Dependencies: registries{served: true}, Merges: true}, "check_process git_commit note escalate finish"},
		"an only one": {Config{MayAsk: true}, "check_process git_commit todo note escalate finish ask_president"},
	} {
		tools := WorkerTools(c.config)
		sent := slices.DeleteFunc(slices.Clone(tools), func(tool agent.Tool) bool { return tool.Hidden })
		if got := strings.Join(namesOf(sent), " "); got != "read_file write_file edit_file search list_files run_command "+c.want {
			t.Errorf("%s: %s", name, got)
		}
		if !slices.Contains(namesOf(tools), "git_status") || !slices.Contains(namesOf(tools), "add_dependency") {
			t.Errorf("%s: a hidden tool is gone", name)
		}
	}
}

// The names and arguments are a contract (WRK-1): a change here breaks others.
func TestContract(t *testing.T) {
	names := func(tools []agent.Tool) string { return strings.Join(namesOf(tools), " ") }
	if got := names(ReadOnlyTools(Config{})); got != "read_file search list_files run_command" {
		t.Errorf("reading: %s", got)
	}
	writing := WorkerTools(Config{})
	if got := names(writing); got != "read_file write_file edit_file search list_files run_command check_process "+
		"stop_process git_status git_commit add_dependency todo note escalate finish" {
		t.Errorf("writing: %s", got)
	}
	args := map[string]string{ // required first, then the rest
		"read_file": "path | limit offset", "write_file": "path content |", "edit_file": "path old new | replace_all",
		"search": "pattern | glob", "list_files": "| glob", "run_command": "command | background timeout_s",
		"check_process": "process_id | stop", "stop_process": "process_id |", "git_status": "|",
		"git_commit":     "message | paths",
		"add_dependency": "ecosystem name | version",
		"todo":           "items |", "note": "text |", "escalate": "reason |",
		"finish": "summary | commit decisions problem risks",
	}
	readOnly := []string{"read_file", "search", "list_files", "git_status"}
	writes := []string{"write_file", "edit_file", "git_commit", "add_dependency", "finish"} // WRK-9
	for _, tool := range writing {
		var s struct {
			Required   []string
			Properties map[string]any
		}
		if err := json.Unmarshal(tool.Spec.Schema, &s); err != nil {
			t.Fatalf("%s: %v", tool.Spec.Name, err)
		}
		var rest []string
		for p := range s.Properties {
			if !slices.Contains(s.Required, p) {
				rest = append(rest, p)
			}
		}
		slices.Sort(rest)
		if got := strings.TrimSpace(strings.Join(s.Required, " ") + " | " +
			strings.Join(rest, " ")); got != args[tool.Spec.Name] {
			t.Errorf("%s: %s, want %s", tool.Spec.Name, got, args[tool.Spec.Name])
		}
		if tool.ReadOnly != slices.Contains(readOnly, tool.Spec.Name) {
			t.Errorf("%s: read-only %v", tool.Spec.Name, tool.ReadOnly)
		}
		if tool.Writes != slices.Contains(writes, tool.Spec.Name) {
			t.Errorf("%s: writes %v", tool.Spec.Name, tool.Writes)
		}
		c := jsonschema.NewCompiler()
		doc, err := jsonschema.UnmarshalJSON(strings.NewReader(string(tool.Spec.Schema)))
		if err != nil || c.AddResource("x.json", doc) != nil {
			t.Fatalf("%s: bad schema", tool.Spec.Name)
		}
		if _, err := c.Compile("x.json"); err != nil {
			t.Errorf("%s: %v", tool.Spec.Name, err)
		}
	}
}

// WRK-1, WRK-2, WRK-3, WRK-6 as the model meets them.
func TestFiles(t *testing.T) {
	b := newBench(t)
	w := WorkerTools(b.config)

	// Who edits is shown the text as it is, who names lines their numbers.
	if res := call(t, w, "read_file", `{"path":"a.txt"}`); res.Text != "one\ntwo\n" || res.FirstLine != 1 {
		t.Errorf("%+v", res)
	}
	if res := call(t, w, "read_file", `{"path":"a.txt","offset":2}`); res.Text != "two\n(lines 2-2 of 2)\n" ||
		res.FirstLine != 2 {
		t.Errorf("%+v", res)
	}
	if res := call(t, w, "read_file",
		`{"path":"a.txt","limit":1}`); res.Text != "one\n(lines 1-1 of 2; use offset=2 to continue)\n" {
		t.Errorf("%+v", res)
	}
	if res := call(t, ReadOnlyTools(b.config), "read_file", `{"path":"a.txt"}`); res.Text != "1: one\n2: two\n" {
		t.Errorf("%+v", res)
	}
	requireText(t, call(t, w, "read_file", `{"path":"bin"}`), false, "binary file")
	requireText(t, call(t, w, "read_file", `{"path":"b.txt"}`), true, "b.txt")

	res := call(t, w, "edit_file", `{"path":"a.txt","old":"two","new":"2"}`)
	requireText(t, res, false, "edited a.txt at line 2")
	if !res.Changed || b.read(t, "a.txt") != "one\n2\n" {
		t.Errorf("changed %v, content %q", res.Changed, b.read(t, "a.txt"))
	}
	res = call(t, w, "edit_file", `{"path":"a.txt","old":"three","new":"3"}`)
	requireText(t, res, true, "")
	if res.Changed || b.read(t, "a.txt") != "one\n2\n" {
		t.Errorf("a refused edit changed the file: %q", b.read(t, "a.txt"))
	}

	content := "a\tb\r\n\"quoted\" é 漢\u2028end without newline"
	args, err := json.Marshal(map[string]string{"path": "new/c.txt", "content": content})
	if err != nil {
		t.Fatal(err)
	}
	res = call(t, w, "write_file", string(args))
	requireText(t, res, false, "created new/c.txt", fmt.Sprintf("%d bytes", len(content)))
	if !res.Changed || b.read(t, "new/c.txt") != content {
		t.Errorf("content %q", b.read(t, "new/c.txt"))
	}
	requireText(t, call(t, w, "write_file", `{"path":"bad.go","content":"package x\nfunc {"}`), false, "does not parse")

	requireText(t, call(t, w, "search", `{"pattern":"q.oted"}`), false, "new/c.txt:2:")
	requireText(t, call(t, w, "search", `{"pattern":"("}`), true, "")
	requireText(t, call(t, w, "list_files", `{"glob":"**/*.txt"}`), false, "a.txt", "new/c.txt")
	requireText(t, call(t, w, "read_file", `{"path":"a.txt","limit":1e30}`), true, "cannot be read")
}

func (b *bench) read(t testing.TB, path string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(b.dir, path))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestCommands(t *testing.T) {
	b := newBench(t)
	w := WorkerTools(b.config)

	res := call(t, w, "run_command", `{"command":"echo out; echo err >&2; exit 3"}`)
	requireText(t, res, false, "exit code 3", "out", "err")
	requireText(t, call(t, w, "run_command", `{"command":"sleep 60","timeout_s":1}`), false, "timed out")
	requireText(t, call(t, w, "run_command", `{"command":"vi a.txt"}`), true, "vi")

	res = call(t, w, "run_command", `{"command":"for i in $(seq 20000); do echo line $i; done"}`)
	requireText(t, res, false, "line 1\n", "line 20000", "left out")
	if whole := string(res.Blob); !strings.Contains(whole, "line 9999\n") || strings.Contains(res.Text, "line 9999\n") {
		t.Errorf("a whole of %d bytes", len(whole))
	}

	res = call(t, w, "run_command", `{"command":"echo up; sleep 60","background":true}`)
	requireText(t, res, false, "running as ")
	_, rest, _ := strings.Cut(res.Text, "running as ")
	id, _, _ := strings.Cut(rest, " ")
	args := fmt.Sprintf(`{"process_id":%q}`, id)
	if res = call(t, w, "check_process", args); !res.NoLoop {
		t.Error("polling a running process counts as a loop")
	}
	requireText(t, res, false, "running as "+id)
	requireText(t, call(t, w, "stop_process", args), false, "exit code")
	if res = call(t, w, "check_process", args); res.NoLoop && !res.IsError {
		t.Errorf("asking about an ended process is no waiting: %+v", res)
	}
	requireText(t, call(t, w, "check_process", `{"process_id":"none"}`), true, "none")

	res = call(t, w, "run_command", `{"command":"sleep 60","background":true}`)
	_, rest, _ = strings.Cut(res.Text, "running as ")
	id, _, _ = strings.Cut(rest, " ")
	stop := json.RawMessage(fmt.Sprintf(`{"process_id":%q,"stop":true}`, id))
	if w[6].Reads(stop) || !w[6].Reads(json.RawMessage(args)) || !w[7].Hidden {
		t.Error("ending a process is taken for a look at it, or has two names")
	}
	if res = call(t, w, "check_process", string(stop)); !res.Changed {
		t.Errorf("what the process wrote is not kept: %+v", res)
	}
	requireText(t, res, false, "exit code")
}

// finish is only for work that is committed, on its branch, and with us.
func TestFinish(t *testing.T) {
	b := newBench(t)
	w := WorkerTools(b.config)
	fin := func() agent.Result {
		return call(
			t, w, "finish",
			`{"problem":"it was missing","summary":"did it","risks":"none seen","decisions":["the old name stays"]}`)
	}
	refused := func(parts ...string) {
		t.Helper()
		res := fin()
		requireText(t, res, true, append(parts, "Not finished")...)
		if res.Final != nil {
			t.Error("it ended the run")
		}
	}
	refused("nothing was committed")
	call(t, w, "write_file", `{"path":"n.txt","content":"x"}`)
	refused("not committed", "n.txt")
	requireText(t, call(t, w, "git_status", `{}`), false, "n.txt")
	requireText(t, call(t, w, "git_commit", `{"message":"add n"}`), false, "committed", "n.txt")
	if got := gitexectest.Git(t, b.dir, "log", "-1", "--format=%s"); got != "[t1-01] add n" {
		t.Errorf("message %q", got)
	}
	requireText(t, call(t, w, "git_commit", `{"message":"again"}`), true, "")

	gitexectest.Git(t, b.dir, "checkout", "-q", "-b", "elsewhere")
	refused("on elsewhere", "belongs on agent/t1-01-x")
	gitexectest.Git(t, b.dir, "checkout", "-q", "agent/t1-01-x")

	// A commit that git made by itself is pushed before the run ends.
	gitexectest.Git(t, b.dir, "commit", "-q", "--allow-empty", "-m", "by hand")
	res := fin()
	requireText(t, res, false, "finished at")
	head := gitexectest.Git(t, b.dir, "rev-parse", "HEAD")
	if want := (Finish{Problem: "it was missing", Summary: "did it", Risks: "none seen",
		Decisions: []string{"the old name stays"}, Commit: company.OID(head)}); !reflect.DeepEqual(res.Final, want) {
		t.Errorf("final %+v, want %+v", res.Final, want)
	}
	if got := gitexectest.Git(t, b.origin, "rev-parse", "agent/t1-01-x"); got != head {
		t.Errorf("origin has %s, want %s", got, head)
	}
	if got := (&toolFactory{Config: b.config}).commitMessage("a\x1b[31m\nb"); got != "[t1-01] a\\x1b[31m\nb" {
		t.Errorf("a message that steers a terminal: %q", got)
	}
	if got := (&toolFactory{Config: b.config}).commitMessage("[t1-01] x"); got != "[t1-01] x" {
		t.Errorf("message %q", got)
	}
	b.config.Start = ""
	if _, err := WorkerTools(b.config)[14].Run(ctx(t), json.RawMessage(`{"summary":"x"}`)); company.CodeOf(
		err) != company.EInternal {
		t.Errorf("a run without a start: %v", err)
	}
}

// WRK-4: reaching outside by a link, or into .git, is refused, told to the model, reported, and the
// third time the work is taken away.
func TestReachingOutsideEscalates(t *testing.T) {
	b := newBench(t)
	if err := os.Symlink("/etc", filepath.Join(b.dir, "link")); err != nil {
		t.Fatal(err)
	}
	for name, tools := range map[string][]agent.Tool{"reading": ReadOnlyTools(b.config),
		"writing": WorkerTools(b.config)} {
		t.Run(name, func(t *testing.T) {
			b.denials = nil
			requireText(t, call(t, tools, "read_file", `{"path":"nothing.txt"}`), true, "nothing.txt") // no denial
			for i, path := range []string{".git/config", "link/passwd", "link/shadow\u202e"} {
				args, _ := json.Marshal(map[string]string{"path": path})
				res := call(t, tools, "read_file", string(args))
				if strings.Contains(res.Text, "root:") || !res.IsError {
					t.Fatalf("it read %s: %s", path, res.Text)
				}
				e, escalated := res.Final.(agent.Escalation)
				if escalated != (i == DenialLimit-1) ||
					escalated && !strings.Contains(e.Reason, "3 refused accesses, the last by read_file") {
					t.Errorf("access %d: final %+v", i+1, res.Final)
				}
			}
			if len(b.denials) != 3 || b.denials[0].Kind != toolproto.KindOutside || b.denials[2].Count != 3 ||
				b.denials[0].Tool != "read_file" {
				t.Fatalf("events %+v", b.denials)
			}
			if d := b.denials[2]; strings.Contains(d.Args, "\u202e") || !strings.Contains(d.Args, "link/shadow") {
				t.Errorf("event %+v", d)
			}
		})
	}
}

// A wrong path is a mistake: it is not reported, and the work goes on however often it is made.
func TestWrongPathsAreNoAttack(t *testing.T) {
	b := newBench(t)
	for name, tools := range map[string][]agent.Tool{"reading": ReadOnlyTools(b.config),
		"writing": WorkerTools(b.config)} {
		t.Run(name, func(t *testing.T) {
			for _, path := range []string{"/app/a.txt", "/home/user/project/a.txt", "/workspace/a.txt", "../../a.txt", "~/a.txt",
				`C:\\project\\a.txt`, "/etc/hosts", "file:///app/a.txt"} {
				res := call(t, tools, "read_file", `{"path":"`+path+`"}`)
				requireText(t, res, true, "outside the workspace: give the path from its root")
				if path != "/etc/hosts" {
					requireText(t, res, true, "did you mean a.txt?")
				}
				if res.Final != nil || strings.Contains(res.Text, "recorded") {
					t.Fatalf("%s: %+v", path, res)
				}
			}
			if len(b.denials) != 0 {
				t.Errorf("reported %+v", b.denials)
			}
		})
	}
	w := WorkerTools(b.config)
	for _, args := range []string{`{"path":"/app/new.txt","content":"x"}`, `{"path":"../../new.txt","content":"x"}`} {
		requireText(t, call(t, w, "write_file", args), true, "outside the workspace")
	}
	requireText(t, call(t, w, "git_commit", `{"message":"m","paths":["/app/a.txt"]}`), true, "did you mean a.txt?")
	if len(b.denials) != 0 {
		t.Errorf("reported %+v", b.denials)
	}
}

// The models' answers name the form that a file keeps.
func TestResultsNameTheFormOfAFile(t *testing.T) {
	b := newBench(t)
	if err := os.WriteFile(filepath.Join(b.dir, "latin.txt"), []byte("caf\xe9\none\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	w := WorkerTools(b.config)
	res := call(t, w, "edit_file", `{"path":"dos.txt","old":"a","new":"c\nd"}`)
	if res.Text != "edited dos.txt at line 1\nkept as it was: CRLF line ends" || b.read(t, "dos.txt") != "c\r\nd\r\nb\r\n" {
		t.Errorf("%q: %q", res.Text, b.read(t, "dos.txt"))
	}
	call(t, w, "read_file", `{"path":"dos.txt"}`)
	requireText(t, call(t, w, "write_file", `{"path":"dos.txt","content":"x\n"}`), false,
		"replaced dos.txt, 3 bytes\nkept as it was: CRLF line ends")
	requireText(t, call(t, w, "read_file", `{"path":"latin.txt"}`), false, "caf⟨e9⟩\none\n(not UTF-8: ")
	requireText(t, call(t, ReadOnlyTools(b.config), "read_file", `{"path":"latin.txt"}`), false,
		"1: caf⟨e9⟩\n2: one\n(not UTF-8: ")
	requireText(t, call(t, w, "edit_file", `{"path":"latin.txt","old":"one","new":"é"}`), true, "not UTF-8", "iconv")
	requireText(t, call(t, w, "run_command", `{"command":"cat latin.txt"}`), false, "caf⟨e9⟩")
	if got := b.read(t, "latin.txt"); got != "caf\xe9\none\n" {
		t.Errorf("stored %q", got)
	}
}

func TestDesk(t *testing.T) {
	w := WorkerTools(Config{})
	amended := func(args string) string { return string(w[11].Amend(json.RawMessage(args))) }
	for _, args := range []string{
		`{"items":["[x] look","[>] write","test"]}`,
		amended(`{"items":["[x] look","[>] write","[ ] test"]}`),
		// The form of older versions, and what models make of it.
		amended(`{"items":[{"text":"look","status":"done"},{"text":"write","status":"in_progress"},` +
			`{"text":"test","status":"pending"}]}`),
		amended(`{"items":[{"content":"look","status":"Completed"},{"title":"write","status":"in progress"},{"text":"test"}]}`),
	} {
		res := call(t, w, "todo", args)
		requireText(t, res, false, "[x] look\n[>] write\n[ ] test\n")
		if !res.Keep {
			t.Error("the list may be cleared from the context")
		}
	}
	for args, want := range map[string]string{`{"items":"a"}`: `{"items":"a"}`, `[1]`: `[1]`,
		`{"items":[{"status":"done"}]}`: `{"items":[{"status":"done"}]}`} {
		if got := amended(args); got != want {
			t.Errorf("%s became %s", args, got)
		}
	}
	requireText(t, call(t, w, "todo", `{"items":["[>] a","[>] b"]}`), true, "at most one")
	requireText(t, call(t, w, "note", `{"text":"make test needs -short"}`), false, "noted")
	log := agent.Transcript{ToolCalls: []agent.TranscriptCall{
		{Name: "note", Arguments: `{"text":"make test needs -short"}`},
		{Name: "note", Arguments: `{"text":"refused"}`, IsError: true},
		{Name: "run_command", Arguments: `{"text":"no note"}`}, {Name: "note", Arguments: `no JSON`},
		{Name: "note", Arguments: `{"note":"by another name"}`},
	}}
	if got := NotesOf(log); !slices.Equal(got, []string{"make test needs -short", "by another name"}) {
		t.Errorf("notes %q", got)
	}
	if res := call(t, w, "escalate", `{"reason":"no such API"}`); res.Final != (agent.Escalation{Reason: "no such API"}) {
		t.Errorf("final %+v", res.Final)
	}
}

// A toolbox that is gone ends the run with an error; it is no answer.
func TestBrokenToolboxIsAnError(t *testing.T) {
	b := newBench(t)
	w := WorkerTools(b.config)
	b.client.Close()
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	for _, tool := range w[:10] {
		if _, err := tool.Run(
			gone, json.RawMessage(
				`{"path":"a.txt","command":"true","process_id":"1","pattern":"x","message":"m"}`)); err == nil {
			t.Errorf("%s answered", tool.Spec.Name)
		} else if !errors.As(err, new(*toolproto.Broken)) {
			t.Errorf("%s: %v", tool.Spec.Name, err)
		}
	}
}

func TestReadsOnly(t *testing.T) {
	for command, want := range map[string]bool{
		"echo hi": true, "ls -la | grep x | wc -l": true, "cat a.txt && head -3 b 2>&1": true,
		"grep -r x . 2>/dev/null || true": true,
		"echo 'a b' \"c\"":                true, "[ -f a ]": true,
		"cd internal && grep -rn x .": true, "git log --oneline -5": true, "git diff HEAD~1 -- a.txt": true,
		"git show HEAD:a.txt | head": true, "git --no-pager log -p -2": true, "git status --short": true,
		"git blame a.txt":             true,
		"find . -name '*.go' -type f": true, "sed -n '1,20p' a.txt": true, "sort a | uniq": false, "sort a": true,
		"rg -n x":          true,
		"git commit -am x": false, "git diff --output=a": false, "git log --output a": false, "git show --ext-diff": false,
		"git grep -Ovi x": false, "git -c core.pager=x log": false, "git checkout a": false, "git stash": false, "git": false,
		"git cat-file --textconv HEAD:a": false,
		"find . -delete":                 false, "find . -exec rm {} +": false, "find . -fprintf a x": false,
		"sed -i s/a/b/ a": false, "sed -n 'w a' b": false, "sed -n 1p -i a": false, "sort -o a b": false,
		"rg --pre x y": false, "sort -oa b": false,
		"echo hi > a": false, "echo hi >> a": false, "echo hi >& a": false, "go test ./...": false, "rm a": false,
		"X=1 ls": false, "X=1": false,
		"cat $(touch a)": false, "cat `touch a`": false, "echo $X": false, "for i in 1; do ls; done": false,
		"ls; touch b":     false,
		"sh -c 'touch a'": false, "cat <(touch a)": false, "ls() { touch a; }; ls": false, "": true, "if": false,
		"./ls": false, "$cmd": false,
	} {
		if got := readsOnly(command); got != want {
			t.Errorf("%q: %v", command, got)
		}
	}
	if !call(t, WorkerTools(newBench(t).config), "run_command", `{"command":"touch x"}`).Changed {
		t.Error("a command that writes needs a checkpoint")
	}
}

// finish commits what is left when it is given a message, and then it ends the run.
func TestFinishCommits(t *testing.T) {
	b := newBench(t)
	w := WorkerTools(b.config)
	call(t, w, "write_file", `{"path":"new.txt","content":"x\n"}`)
	requireText(t, call(t, w, "finish", `{"summary":"done"}`), true, "not committed", "new.txt")
	res := call(t, w, "finish", `{"summary":"done","commit":"add new.txt"}`)
	requireText(t, res, false, "finished at")
	final, ok := res.Final.(Finish)
	if !ok || !res.Changed || final.Commit == b.start {
		t.Fatalf("result %+v", res)
	}
	if got := gitexectest.Git(t, b.dir, "log", "-1", "--format=%s"); got != "[t1-01] add new.txt" {
		t.Errorf("committed as %q", got)
	}
	if got := gitexectest.Git(t, b.origin, "rev-parse", "agent/t1-01-x"); company.OID(got) != final.Commit {
		t.Errorf("the branch that was pushed is at %s, not %s", got, final.Commit)
	}
	// Where all is committed the message is not needed.
	requireText(t, call(t, w, "finish", `{"summary":"done","commit":"nothing left"}`), false,
		"finished at "+final.Commit.Short())
	// A call that is no work is no work with a message either.
	other := newBench(t)
	requireText(t, call(t, WorkerTools(other.config), "finish", `{"summary":"done","commit":"nothing"}`), true,
		"nothing was committed")
	// Where an earlier run left work that nobody has handed in, it may be all that is needed.
	other.config.Unfinished = true
	requireText(t, call(t, WorkerTools(other.config), "finish", `{"summary":"it was all there"}`), false,
		"finished at "+other.start.Short())
}

// A worker that finds the work done already hands that in with its evidence, once it was asked. Where its branch has
// work, it does not.
func TestFinishWithoutAChange(t *testing.T) {
	b := newBench(t)
	b.config.Base = b.start
	w := WorkerTools(b.config)
	const args = `{"summary":"greet.go does it since 1.2, and TestGreet shows it"}`
	requireText(t, call(t, w, "finish", args), true, "nothing was committed", "already does", "finish again", "evidence")
	res := call(t, w, "finish", args)
	requireText(t, res, false, "without a change")
	if fin, ok := res.Final.(Finish); !ok || !fin.Unchanged || fin.Commit != b.start ||
		fin.Summary != "Nothing to change: greet.go does it since 1.2, and TestGreet shows it" {
		t.Errorf("%+v", res.Final)
	}
	call(t, w, "write_file", `{"path":"n.txt","content":"x"}`)
	requireText(t, call(t, w, "finish", args), true, "not committed")
	requireText(t, call(t, w, "git_commit", `{"message":"add n"}`), false, "committed")
	if fin, ok := call(t, w, "finish", args).Final.(Finish); !ok || fin.Unchanged {
		t.Errorf("%+v", fin)
	}
	other := newBench(t)
	other.config.Base = company.OID(strings.Repeat("1", 40))
	w = WorkerTools(other.config)
	for range 2 {
		requireText(t, call(t, w, "finish", args), true, "nothing was committed")
	}
}

// Commands of one reply that only read run at the same time, in a real toolbox.
func TestReadingCommandsRunTogether(t *testing.T) {
	b := newBench(t)
	tools := WorkerTools(b.config)
	var reading, writing agent.Tool
	for _, tool := range tools {
		switch tool.Spec.Name {
		case "run_command":
			reading = tool
		case "write_file":
			writing = tool
		}
	}
	for args, want := range map[string]bool{
		`{"command":"git log --oneline"}`: true, `{"command":"grep -rn x ."}`: true,
		`{"command":"go test ./..."}`: false, `{"command":"git log","background":true}`: false,
		`{"command":"git commit -m x"}`: false,
	} {
		if got := reading.Reads(json.RawMessage(args)); got != want {
			t.Errorf("%s reads: %v", args, got)
		}
	}
	if writing.Reads != nil {
		t.Error("write_file reads")
	}
	one := func(i int) adapters.ToolCall {
		return adapters.ToolCall{ID: fmt.Sprint(i), Name: "run_command",
			Arguments: fmt.Sprintf(`{"command":"git show HEAD:a.txt | head -%d"}`, i%2+1)}
	}
	m := &script{replies: [][]adapters.ToolCall{nil, {{ID: "f", Name: "escalate", Arguments: `{"reason":"enough"}`}}}}
	for i := range 12 {
		m.replies[0] = append(m.replies[0], one(i))
	}
	out, err := agent.Loop{Models: bare{m}}.Drive(
		ctx(t), agent.Job{Tools: tools, First: "x", Run: "t1-01.1", Journal: journal{}})
	if err != nil || out.End != agent.EndEscalated {
		t.Fatalf("%s, %v", out.End, err)
	}
	for i, c := range out.Transcript.ToolCalls[:12] {
		if want := map[int]string{0: "one\n", 1: "one\ntwo\n"}[i%2]; c.IsError || c.ID != fmt.Sprint(i) ||
			!strings.HasPrefix(c.Result, "exit code 0 after ") || !strings.HasSuffix(c.Result, "\n"+want) {
			t.Errorf("call %d: %s %q", i, c.ID, c.Result)
		}
	}
}

// script is a model that says one thing after the other.
type script struct {
	replies [][]adapters.ToolCall
	asked   int
}

func (*script) Info() adapters.Info { return adapters.Info{MaxOutput: 1000} }

func (s *script) Chat(context.Context, adapters.Request, func(adapters.Event)) (adapters.Response, error) {
	s.asked++
	return adapters.Response{Message: adapters.Message{Role: adapters.Assistant, ToolCalls: s.replies[s.asked-1]},
		Finish: adapters.FinishStop}, nil
}

type journal struct{}

func (journal) Append(context.Context, string, any) (int, error)                     { return 1, nil }
func (journal) AppendLater(context.Context, string, any) error                       { return nil }
func (journal) Flush(context.Context) error                                          { return nil }
func (journal) Read(context.Context, func(int, string, json.RawMessage) error) error { return nil }

// A whole conversation over the real toolbox: edit, test, commit, finish.
func TestConversation(t *testing.T) {
	b := newBench(t)
	one := func(name, args string) []adapters.ToolCall {
		return []adapters.ToolCall{{ID: "x", Name: name, Arguments: args}}
	}
	m := &script{replies: [][]adapters.ToolCall{
		{{ID: "1", Name: "read_file", Arguments: `{"path":"a.txt"}`},
			{ID: "2", Name: "read_file", Arguments: `{"path":"dos.txt"}`}, {ID: "3", Name: "git_status"}},
		one("edit_file", `{"path":"a.txt","old":"two","new":"zwei"}`),
		one("finish", `{"summary":"too early"}`),
		{{ID: "1", Name: "run_command", Arguments: `{"command":"grep zwei a.txt"}`},
			{ID: "2", Name: "git_commit", Arguments: `{"message":"translate"}`},
			{ID: "3", Name: "finish", Arguments: `{"summary":"done"}`}},
	}}
	keeper := &space{tools: b.client}
	out, err := agent.Loop{Models: bare{m}}.Drive(ctx(t), agent.Job{
		Tools: WorkerTools(b.config), Journal: journal{}, System: "s", First: "f", Run: "t1-01.1", Workspace: keeper,
	})
	var fin Finish
	if err != nil || out.End != agent.EndFinal || out.FinalTool != "finish" || out.Decode(&fin) != nil ||
		fin.Summary != "done" {
		t.Fatalf("outcome %+v, error %v", out, err)
	}
	if got := gitexectest.Git(t, b.origin, "show", fmt.Sprintf("%s:a.txt", fin.Commit)); got != "one\nzwei" {
		t.Errorf("the commit holds %q", got)
	}
	if got := fmt.Sprint(keeper.turns); got != "[2 4]" { // the turns that changed something
		t.Errorf("saved after turns %s", got)
	}
}

// bare is a model that is metered and nothing else.
type bare struct{ adapters.Model }

func (m bare) OpenModel(meter func(adapters.Model) adapters.Model) (adapters.Model, error) {
	return meter(m.Model), nil
}

// space keeps checkpoints of a toolbox.
type space struct {
	tools *toolproto.Client
	turns []int
}

func (s *space) Save(ctx context.Context, turn int) (*agent.Saved, error) {
	s.turns = append(s.turns, turn)
	cp, err := s.tools.Checkpoint(ctx, "t1-01.1")
	return &agent.Saved{Checkpoint: company.OID(cp.OID)}, err
}

func (s *space) Recall(ctx context.Context, known map[string]string) error {
	return s.tools.Recall(ctx, known)
}

// A push that fails because the host's disk is full is nothing for a model: the
// call has no result. One that the host refuses for what is in it is.
func TestHostIsFull(t *testing.T) {
	b := newBench(t)
	w := WorkerTools(b.config)
	hook := func(says string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(b.origin, "hooks/pre-receive"),
			[]byte("#!/bin/sh\necho \""+says+"\" >&2\nexit 1\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	commit := w[slices.Index(namesOf(w), "git_commit")]
	for says, kept := range map[string]bool{
		"E_OBJECTS: too large":                  true,
		"write error: No space left on device":  false,
		"cannot update ref: couldn't write 'x'": false, // of a lock, git does not say why
	} {
		hook(says)
		if err := os.WriteFile(filepath.Join(b.dir, "n.txt"), []byte(says), 0o644); err != nil {
			t.Fatal(err)
		}
		res, err := commit.Run(ctx(t), json.RawMessage(`{"message":"add n"}`))
		var notKept *agent.NotKept
		if kept && (err != nil || !res.IsError || !res.Changed || !strings.Contains(res.Text, says)) ||
			!kept && !errors.As(err, &notKept) {
			t.Errorf("%s: %+v, %v", says, res, err)
		}
	}
}

// Commands that commit get the time of their call, and no other commands.
func TestCommandsThatCommit(t *testing.T) {
	for command, want := range map[string]bool{
		"git commit -m x": true, "cd sub && git -c user.name=x -C . commit -am x": true, "git merge --no-ff side": true,
		"(git stash; true)": true,
		"git log":           false, "git -C commit log": false, "echo git commit": false, "go test ./...": false,
		"git diff | cat": false, "if then": false,
	} {
		if got := runsGitCommit(command); got != want {
			t.Errorf("%q: %v", command, got)
		}
	}
}
