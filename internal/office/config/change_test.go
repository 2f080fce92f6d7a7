package config

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"company/internal/company"
	"company/internal/office/config/configtest"
)

func change(t *testing.T, dir string, c Change) (Changed, error) {
	t.Helper()
	c.File = filepath.Join(dir, ConfigName)
	return ChangeFile(t.Context(),
		LoadOptions{OfficeDir: dir, Env: configtest.Env(map[string]string{"HOME": filepath.Dir(dir)})}, c)
}

func readText(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// A value is written as the schema has it: lists and profiles from YAML, texts quoted
// where they have to be, and the whole config says what it is now.
func TestChangeFile(t *testing.T) {
	dir := configtest.Office(t, "version: 1\nworkers:\n  max: 3 # enough\n")
	for _, x := range []struct{ key, value, line string }{
		{"workers.max", "5", "  max: 5 # enough"},
		{"workers.command_timeout", "90s", "  command_timeout: 90s"},
		{"workers.memory", "2g", "  memory: 2g"},
		{"budget.usd", "none", "  usd: none"},
		{"git.author", "A: B <a@b>", `  author: "A: B <a@b>"`},
		{"gates.protected", "a/**, b", `  protected: ["a/**", b]`},
		{"gates.protected", `["c, d", e]`, `  protected: ["c, d", e]`},
		{"gates.lint", "[ -f x ]", `  lint: "[ -f x ]"`},
		{"gates.test", `["go", "test"]`, `  test: [go, test]`},
		{"models.strong", "{adapter: openai, model: gpt-5, price: {input: 1.25}}",
			"  strong: {adapter: openai, model: gpt-5, price: {input: 1.25}}"},
		{"models.strong.temperature", "0.5",
			"  strong: {adapter: openai, model: gpt-5, price: {input: 1.25}, temperature: 0.5}"},
		{"agents.worker", "{model: strong, max_turns: 9}", "  worker: {model: strong, max_turns: 9}"},
	} {
		changed, err := change(t, dir, Change{Key: x.key, Value: x.value})
		if err != nil {
			t.Errorf("%s: %v", x.key, err)
			continue
		}
		if text := readText(t, filepath.Join(dir, ConfigName)); !slices.Contains(strings.Split(text, "\n"), x.line) {
			t.Errorf("%s: no line %q in\n%s", x.key, x.line, text)
		}
		if changed.Before == nil || changed.Before.Hash == changed.After.Hash {
			t.Errorf("%s: the config is what it was", x.key)
		}
	}
	if got := mustLoad(t, LoadOptions{OfficeDir: dir}).Config; got.Workers.Max != 5 || got.Agents.Worker.MaxTurns != 9 ||
		*got.Models["strong"].Temperature != 0.5 {
		t.Errorf("%+v", got)
	}
	changed, err := change(t, dir, Change{Key: "workers.max", Unset: true})
	if err != nil || changed.Was != "5" || changed.Now != "" || changed.After.Config.Workers.Max != 3 {
		t.Errorf("unset: %+v, %v", changed, err)
	}
}

// What is refused changes no byte, and says what is allowed.
func TestChangeRefused(t *testing.T) {
	const text = "version: 1\nworkers: {max: 3}\n"
	for _, x := range []struct {
		key, value, says, fix string
		code                  company.Code
	}{
		{"workers.maxx", "5", "KEY: unknown key workers.maxx", "did you mean workers.max?", company.EConfig},
		{"wrokers.max", "5", "unknown key wrokers", "did you mean workers?", company.EConfig},
		{"command_timeout", "5m", "unknown key command_timeout", "did you mean workers.command_timeout?", company.EConfig},
		{"models.strong.adaptr", "openai", "unknown key models.strong.adaptr", "did you mean models.strong.adapter?",
			company.EConfig},
		{"models.Strong", "{adapter: ollama}", "not a name of a profile", "a-z", company.EConfig},
		{"workers.max.x", "5", "workers.max has no keys below it", "company config set workers.max", company.EConfig},
		{"workers.max", "many", `VALUE: workers.max is not what is needed, found "many"`, "a whole number from 1 to 64",
			company.EConfig},
		{"workers.max", "99", "workers.max is too large, found", "from 1 to 64", company.EConfig},
		{"workers", "5", "VALUE: workers must be a mapping", "max, command_timeout", company.EConfig},
		{"workers", "{mx: 5}", "unknown key workers.mx", "did you mean workers.max?", company.EConfig},
		{"git.integration_branch", "main", "must never be main or master", "develop", company.EProtected},
		{"agents.worker.model", "none", "names a profile that does not exist", "default", company.EConfig},
		{"models.strong.model", "gpt-5", "models.strong has no adapter", "add adapter", company.EConfig},
		{"bus.driver", "redis", "is not one of the words allowed", "nats, file", company.EConfig},
		{"models.default.api_key_env", "sk-123 456", "is not the name of a variable", "never the key itself",
			company.EConfig},
		{"container.egress", "example.com", "unknown key container.egress", "image, dockerfile", company.EConfig},
	} {
		dir := configtest.Office(t, text)
		_, err := change(t, dir, Change{Key: x.key, Value: x.value})
		if err == nil || company.CodeOf(err) != x.code || !strings.Contains(err.Error()+fixOf(err), x.says) ||
			!strings.Contains(fixOf(err), x.fix) {
			t.Errorf("%s: %v (%s)", x.key, err, fixOf(err))
			continue
		}
		if strings.Contains(err.Error(), "sk-123") {
			t.Errorf("%s shows what may be a key: %v", x.key, err)
		}
		if got := readText(t, filepath.Join(dir, ConfigName)); got != text {
			t.Errorf("%s changed the file:\n%s", x.key, got)
		}
	}
	dir := configtest.Office(t, text)
	if _, err := change(t, dir, Change{Key: "workers.warm", Unset: true}); company.CodeOf(err) != company.ENotFound {
		t.Errorf("unset of what is not set: %v", err)
	}
}

func fixOf(err error) string {
	for _, p := range Problems(err) {
		return p.Fix
	}
	return ""
}

// whyOf is an error with its reason.
func whyOf(err error) string {
	var e *company.Error
	if !errors.As(err, &e) {
		return err.Error()
	}
	return e.Message + ": " + e.Why + ": " + e.Error()
}

// A key that there is not, and that breaks every command, can be taken out.
func TestChangeRepairs(t *testing.T) {
	dir := configtest.Office(t, "version: 1\nworkers:\n  maxx: 3\n  warm: 1\n")
	changed, err := change(t, dir, Change{Key: "workers.maxx", Unset: true})
	if err != nil || changed.Before != nil {
		t.Fatalf("%+v, %v", changed, err)
	}
	if got := readText(t, filepath.Join(dir, ConfigName)); got != "version: 1\nworkers:\n  warm: 1\n" {
		t.Errorf("%s", got)
	}
}

// The user's own file is made where there is none; a key of the office's file alone may
// not stand there; without a home there is no such file.
func TestChangeUserFile(t *testing.T) {
	home := configtest.Dir(t)
	env := configtest.Env(map[string]string{"HOME": home})
	file, err := UserFile(env)
	if err != nil {
		t.Fatal(err)
	}
	o := LoadOptions{Env: env}
	if _, err := ChangeFile(t.Context(), o, Change{File: file, Key: "workers.max", Value: "0"}); err == nil {
		t.Fatal("0 workers")
	}
	if _, err := os.Stat(filepath.Join(home, ".config")); !os.IsNotExist(err) {
		t.Errorf("a refused change made a folder: %v", err)
	}
	if _, err := ChangeFile(t.Context(), o, Change{File: file, Key: "workers.max", Value: "2"}); err != nil {
		t.Fatal(err)
	}
	if got := readText(t, file); got != "version: 1\nworkers:\n  max: 2\n" {
		t.Errorf("%s", got)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	if _, err := ChangeFile(t.Context(), o, Change{File: file, Key: "paths.runtime", Value: "runs"}); err == nil ||
		!strings.Contains(err.Error(), "office's own company.yaml alone") {
		t.Errorf("paths in the user's file: %v", err)
	}
	if _, err := UserFile(configtest.Env(nil)); company.CodeOf(err) != company.EConfig {
		t.Errorf("without a home: %v", err)
	}
}

// The command is the president's word for the key that it sets, and for no other: what
// the file asked for before, and was not trusted for, is listed. The file of another
// layer is no matter.
func TestChangeAndTrust(t *testing.T) {
	env := configtest.Env(map[string]string{"HOME": configtest.Dir(t)})
	set := func(o LoadOptions, file, key, value string) Changed {
		t.Helper()
		changed, err := ChangeFile(t.Context(), o, Change{File: file, Key: key, Value: value})
		if err != nil {
			t.Fatal(err)
		}
		return changed
	}
	profile := "{adapter: openai, model: gpt-5, api_key_env: K}"
	for name, dir := range map[string]string{"tracked": configtest.Repo(t, map[string]string{ConfigName: "version: 1\n"}),
		"not tracked": configtest.Office(t, "version: 1\n")} {
		o, file := LoadOptions{OfficeDir: dir, Env: env}, filepath.Join(dir, ConfigName)
		if changed := set(o, file, "models.strong", profile); len(changed.Requests) > 0 {
			t.Errorf("%s: %+v", name, changed.Requests)
		}
		if loaded, err := Load(t.Context(), o); err != nil || loaded.Config.Models["strong"].Model != "gpt-5" {
			t.Errorf("%s: %v", name, err)
		}
		configtest.WriteFile(t, file, readText(t, file)+"# by hand\n")
		if _, err := Load(t.Context(), o); err == nil || !strings.Contains(err.Error(), "need") {
			t.Errorf("%s: a change by hand counts: %v", name, err)
		}
		if changed := set(o, file, "git.author", "Ann <a@example.com>"); len(changed.Requests) != 4 {
			t.Errorf("%s: what was not trusted counts with another key: %+v", name, changed.Requests)
		}
		if _, err := Load(t.Context(), o); err == nil {
			t.Errorf("%s: the file counts without trust", name)
		}
		own, _ := UserFile(env)
		if changed := set(o, own, "workers.max", "2"); len(changed.Requests) > 0 {
			t.Errorf("%s: %+v", name, changed)
		}
	}
}

// Files that are not to be replaced stay as they are.
func TestChangeOfOddFiles(t *testing.T) {
	for _, x := range []struct {
		name, says string
		make       func(t *testing.T, file string)
	}{
		{"read-only", "it is read-only", func(t *testing.T, file string) {
			if err := os.Chmod(file, 0o444); err != nil {
				t.Fatal(err)
			}
		}},
		{"a link", "it is a symbolic link", func(t *testing.T, file string) {
			if err := os.Rename(file, file+".real"); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(file+".real", file); err != nil {
				t.Fatal(err)
			}
		}},
		{"a second name", "a second name", func(t *testing.T, file string) {
			if err := os.Link(file, file+".other"); err != nil {
				t.Fatal(err)
			}
		}},
		{"no YAML", "bad syntax", func(t *testing.T, file string) { configtest.WriteFile(t, file, "a: [\n") }},
		{"a list", "the file is a list", func(t *testing.T, file string) { configtest.WriteFile(t, file, "- a\n") }},
		{"too large", "cannot be changed", func(t *testing.T, file string) {
			configtest.WriteFile(t, file, strings.Repeat("# x\n", 50000))
		}},
		{"a pipe", "not a file", func(t *testing.T, file string) {
			if err := errors.Join(os.Remove(file), syscall.Mkfifo(file, 0o600)); err != nil {
				t.Fatal(err)
			}
		}},
		{"a folder", "it is not a file", func(t *testing.T, file string) {
			if err := os.Remove(file); err != nil {
				t.Fatal(err)
			}
			if err := os.Mkdir(file, 0o755); err != nil {
				t.Fatal(err)
			}
		}},
	} {
		t.Run(x.name, func(t *testing.T) {
			dir := configtest.Office(t, "version: 1\n")
			file := filepath.Join(dir, ConfigName)
			x.make(t, file)
			if _, err := Load(t.Context(), LoadOptions{OfficeDir: dir}); x.name == "a pipe" &&
				(err == nil || !strings.Contains(err.Error(), "not a file")) {
				t.Errorf("%v, want %q", err, x.says)
			}
			var before []byte
			if info, err := os.Stat(file); err == nil && info.Mode().IsRegular() {
				before, _ = os.ReadFile(file)
			}
			_, err := change(t, dir, Change{Key: "workers.max", Value: "2"})
			if err == nil || !strings.Contains(whyOf(err), x.says) {
				t.Errorf("%v, want %q", err, x.says)
			}
			if info, err := os.Stat(file); err != nil || !info.Mode().IsRegular() {
				return
			}
			if after, _ := os.ReadFile(file); string(after) != string(before) {
				t.Errorf("the file was changed:\n%s", after)
			}
		})
	}
}

// Two writers wait for each other: no change is lost.
func TestChangesAtTheSameTime(t *testing.T) {
	dir := configtest.Office(t, "version: 1\n")
	values := map[string]string{"workers.max": "2", "workers.warm": "0", "limits.continuations": "1", "git.base": "trunk",
		"recovery": "ask", "budget.usd": "3", "agents.worker.max_turns": "4", "gates.none": "fail"}
	var all sync.WaitGroup
	for key, value := range values {
		all.Go(func() {
			if _, err := change(t, dir, Change{Key: key, Value: value}); err != nil {
				t.Errorf("%s: %v", key, err)
			}
		})
	}
	all.Wait()
	loaded := mustLoad(t, LoadOptions{OfficeDir: dir})
	for key := range values {
		if !strings.HasPrefix(loaded.Origin[key], dir) {
			t.Errorf("%s is lost: %s", key, loaded.Origin[key])
		}
	}
}

// A change that is killed leaves the old file or the new one, and the next change puts
// away what lies beside it.
func TestChangeKilled(t *testing.T) {
	if dir := os.Getenv("COMPANY_TEST_CHANGED"); dir != "" {
		for i := 0; ; i++ {
			if _, err := change(t, dir, Change{Key: "workers.max", Value: []string{"5", "64"}[i%2]}); err != nil {
				t.Fatal(err)
			}
			fmt.Println("changed")
		}
	}
	dir := configtest.Office(t, "version: 1\nworkers:\n  max: 5\n")
	file := filepath.Join(dir, ConfigName)
	for kills := range 20 {
		cmd := exec.Command(os.Args[0], "-test.run=^TestChangeKilled$")
		cmd.Env = append(os.Environ(), "COMPANY_TEST_CHANGED="+dir)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(out)
		for range 1 + kills%5 {
			if !lines.Scan() {
				t.Fatal("the writer ended by itself")
			}
		}
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if text := readText(t, file); text != "version: 1\nworkers:\n  max: 5\n" &&
			text != "version: 1\nworkers:\n  max: 64\n" {
			t.Fatalf("after a kill:\n%s", text)
		}
	}
	configtest.WriteFile(t, filepath.Join(dir, "."+ConfigName+".0123456789abcdef"), "half")
	configtest.WriteFile(t, filepath.Join(dir, "."+ConfigName+".swp"), "an editor's")
	if _, err := change(t, dir, Change{Key: "workers.max", Value: "7"}); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 2 {
		t.Errorf("%v, %v", entries, err)
	}
}
