package config

import (
	"fmt"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"company/internal/office/config/configtest"
)

// leafChoices are values that a leaf takes, as environment and flags give them;
// the same, quoted where it needs to be, stands in a file.
func leafChoices(t *testing.T, key string, typ reflect.Type, tag reflect.StructTag) []string {
	t.Helper()
	if typ.Kind() == reflect.Pointer {
		typ = typ.Elem()
	}
	if key == "git.credential" { // deploy_key needs a file beside it
		return []string{"token", "ssh_agent", "token", "ssh_agent"}
	}
	if words := allowedWords(tag); words != nil {
		return []string{words[0], words[1], words[0], words[1]}
	}
	switch key {
	case "version":
		return []string{"1", "1", "1", "1"}
	case "models.default.adapter", "models.default.fallback", "models.default.via":
		t.Fatalf("%s has a rule of its own", key)
	}
	if strings.HasPrefix(key, "agents.") && (strings.HasSuffix(key, ".model") || strings.HasSuffix(key, ".escalate_to")) {
		return []string{"default", "other", "default", "other"}
	}
	texts := map[string][]string{
		"http_url":   {"http://a.example/v1", "http://b.example/v1", "http://c.example/v1", "http://d.example/v1"},
		"listen":     {"127.0.0.1:1", "127.0.0.1:2", "[::1]:3", "127.0.0.1:4"},
		"listen_any": {"127.0.0.1:1", "127.0.0.1:2", "[::1]:3", "127.0.0.1:4"},
		"env_name":   {"A_KEY", "B_KEY", "C_KEY", "D_KEY"},
		"notify_way": {"bell", "desktop", "bell", "desktop"},
		"image": {"a@sha256:" + strings.Repeat("a", 64), "b@sha256:" + strings.Repeat("b", 64),
			"c@sha256:" + strings.Repeat("c", 64), "auto"},
		"command":          {"make a", "make b", "make c", "make d"},
		"package_registry": {"go", "npm", "pypi", "crates"},
		"package":          {"a", "@b/c", "d.e", "f_g"},
		"registry":         {"npm.example.com", "b.example.com:8443", "localhost:8080", "d.example.com"},
		"host_port":        {"a.example.com", "b.example.com:8443", "localhost:8080", "d.example.com"},
		"author":           {"A <a@example.com>", "B <b@example.com>", "C <c@example.com>", "D <d@example.com>"},
		"repo_file":        {"Dockerfile", "b/Dockerfile", ".devcontainer/devcontainer.json", "d"},
		"folder":           {"a", "b/c", "d", "e"},
		"generate":         {"a/** = make a", "b/** = make b", "c/** = make c", "d/** = make d"},
		"glob":             {"a/**", "b/**", "c/**", "d/**"},
		"label":            {"*a", "*b", "*c", "*d"},
		"file":             {"/a", "/b", "/c", "/d"},
		"dir":              {"/a", "/b", "/c", "/d"},
		"program_kind":     {"stdio-json", "opencode", "stdio-json", "opencode"},
		"argument":         {"/a", "/b", "/c", "/d"},
		"program":          {"go", "npm", "g++", "python3.11"},
		"docker_call":      {"run", "stop", "rm", "logs"},
		"docker_host":      {"unix:///a", "unix:///b", "tcp://c:1", "tcp://d:1"},
	}
	if words := texts[tag.Get("check")]; words != nil {
		return words
	}
	switch tag.Get("check") {
	case "", "branch", "target", "remote":
	case "service":
		return []string{"postgres", "redis", "mysql", "postgres"}
	default:
		t.Errorf("%s: say here what a key with check %q takes", key, tag.Get("check"))
	}
	switch typ {
	case reflect.TypeFor[time.Duration]():
		return []string{"11s", "12s", "13s", "14s"}
	case reflect.TypeFor[Size](), reflect.TypeFor[AutoSize]():
		return []string{"1g", "2g", "3g", "4g"}
	case reflect.TypeFor[Command]():
		return []string{"none", "make b", "make c", "auto"}
	}
	switch typ.Kind() {
	case reflect.Bool:
		return []string{"true", "false", "true", "false"}
	case reflect.Float64:
		return []string{"0.5", "1", "1.5", "2"}
	case reflect.Int, reflect.Int64:
		n := 1
		if lo, err := strconv.Atoi(tag.Get("min")); err == nil {
			n = lo
		}
		return []string{strconv.Itoa(n + 1), strconv.Itoa(n + 2), strconv.Itoa(n + 3), strconv.Itoa(n + 4)}
	}
	return []string{"one", "two", "three", "four"}
}

// inFile is a value as a file has it.
func inFile(text string, typ reflect.Type) string {
	if typ.Kind() == reflect.Pointer {
		typ = typ.Elem()
	}
	switch {
	case typ.Kind() == reflect.Slice:
		return "[" + strconv.Quote(text) + "]"
	case typ.Kind() == reflect.String, typ.Kind() == reflect.Struct, typ == reflect.TypeFor[time.Duration](),
		typ == reflect.TypeFor[Size](), typ == reflect.TypeFor[AutoSize]():
		return strconv.Quote(text)
	}
	return text
}

// fileOf writes keys with dots as a file.
func fileOf(values map[string]string) string {
	var b strings.Builder
	var write func(prefix string, depth int)
	write = func(prefix string, depth int) {
		var done []string
		for _, key := range slices.Sorted(maps.Keys(values)) {
			rest, ok := strings.CutPrefix(key, prefix)
			if !ok {
				continue
			}
			part, _, nested := strings.Cut(rest, ".")
			if slices.Contains(done, part) {
				continue
			}
			done = append(done, part)
			b.WriteString(strings.Repeat("  ", depth) + part + ":")
			if !nested {
				b.WriteString(" " + values[key] + "\n")
				continue
			}
			b.WriteByte('\n')
			write(prefix+part+".", depth+1)
		}
	}
	write("", 0)
	return b.String()
}

// Flag > COMPANY_* > company.yaml > the user's config > default, for every key
// that there is, and each tells where it comes from (CFG-3).
func TestPrecedenceOfEveryKey(t *testing.T) {
	keys := append(leafKeys(reflect.TypeFor[Config](), ""), leafKeys(reflect.TypeFor[Model](), "models.default")...)
	for _, key := range keys {
		if strings.HasPrefix(key, "paths.") {
			continue // of one layer alone: TestPathsOnlyInOfficeConfig
		}
		typ, tag := typeOf(t, key)
		var words []string
		switch key {
		case "models.default.adapter":
			words = []string{"openai", "ollama", "anthropic", "openai"}
		case "git.deploy_key_file":
			words = []string{"/one", "/two", "/three", "/four"}
		case "models.default.fallback", "models.default.via":
			words = []string{"other", "third", "other", "third"}
		default:
			words = leafChoices(t, key, typ, tag)
		}
		// What the key needs beside it, in every file.
		beside := map[string]string{"models.other.adapter": "openai", "models.other.model": "m",
			"models.third.adapter": "openai", "models.third.model": "m"}
		if strings.HasPrefix(key, "models.") {
			beside["models.default.adapter"], beside["models.default.model"] = "openai", "m"
		}
		switch key {
		case "models.default.program", "models.default.bin", "models.default.via":
			beside["models.default.adapter"], beside["models.default.program"] = "cli", "stdio-json"
			beside["models.default.bin"], beside["models.default.via"] = "[/a]", "other"
			delete(beside, "models.default.model")
			for _, role := range []string{"manager", "reviewer", "merger"} {
				beside["agents."+role+".model"] = "other"
			}
		case "git.sign":
			beside["git.signing_key"] = "/key"
		case "git.credential":
			beside["git.deploy_key_file"] = "/key"
		case "git.deploy_key_file":
			beside["git.credential"] = "deploy_key"
		case "forge.webhook_listen":
			beside["forge.webhook_secret_env"] = "HOOK"
		case "serve.tls_cert":
			beside["serve.tls_key"] = "/key"
		case "serve.tls_key":
			beside["serve.tls_cert"] = "/cert"
		case "workers.run_timeout":
			beside["workers.command_timeout"] = "2s"
		}
		user, dir := t.TempDir(), t.TempDir()
		env := map[string]string{"XDG_CONFIG_HOME": user}
		o := LoadOptions{OfficeDir: dir, Env: configtest.Env(env), Flags: map[string]string{}}
		userFile, officeFile := filepath.Join(user, "company", "config.yaml"), filepath.Join(dir, ConfigName)
		write := func(path, word string) {
			values := maps.Clone(beside)
			values[key] = inFile(word, typ)
			configtest.WriteFile(t, path, fileOf(values))
		}
		for layer, set := range []struct {
			by     func(word string)
			origin string
		}{
			{func(w string) { write(userFile, w) }, userFile + ":"},
			{func(w string) { write(officeFile, w) }, officeFile + ":"},
			{func(w string) { env[EnvName(key)] = w }, EnvName(key)},
			{func(w string) { o.Flags[key] = w }, "flag " + key},
		} {
			set.by(words[layer])
			o.trial = anyTrust
			l, err := Load(t.Context(), o)
			if err != nil {
				t.Errorf("%s: %s: %v", key, words[layer], err)
				break
			}
			if got := l.Origin[key]; !strings.HasPrefix(got, set.origin) {
				t.Errorf("%s comes from %q, want %q", key, got, set.origin)
			}
			want := loadSingle(t, key, words[layer], beside)
			if got := flattenConfig(l.Config)[key]; got != want {
				t.Errorf("%s from %s: %s, want %s", key, set.origin, got, want)
			}
		}
	}
}

// typeOf is the type of a key's value, and its tags.
func typeOf(t *testing.T, key string) (reflect.Type, reflect.StructTag) {
	t.Helper()
	c := Default()
	v, rest := reflect.ValueOf(&c).Elem(), key
	if below, ok := strings.CutPrefix(key, "models.default."); ok {
		m := Model{}
		v, rest = reflect.ValueOf(&m).Elem(), below
	}
	leaf, tag, ok := leafOf(v, rest)
	if !ok {
		t.Fatalf("there is no %s", key)
	}
	return leaf.Type(), tag
}

// loadSingle is how a value is shown when nothing else sets it.
func loadSingle(t *testing.T, key, word string, beside map[string]string) string {
	t.Helper()
	flags := map[string]string{key: word}
	l, err := Load(
		t.Context(), LoadOptions{OfficeDir: configtest.Office(t, fileOf(beside)), Flags: flags, trial: anyTrust})
	if err != nil {
		t.Fatal(fmt.Errorf("%s: %w", key, err))
	}
	return flattenConfig(l.Config)[key]
}

// --set takes a section in braces, as company config set does: each key in it is set, and a model
// profile may be new. What is wrong in it is told with its key.
func TestFlagSetsASection(t *testing.T) {
	load := func(flags map[string]string) (Loaded, error) {
		return Load(
			t.Context(),
			LoadOptions{OfficeDir: t.TempDir(), Env: func(string) (string, bool) { return "", false }, Flags: flags})
	}
	l, err := load(map[string]string{
		"models.default": "{adapter: openai, model: small, base_url: 'http://127.0.0.1:1/v1', price: {input: 1, output: 2}}",
		"models.large":   "{adapter: openai, model: big, base_url: 'http://127.0.0.1:1/v1', fallback: [default]}",
		"workers":        "{max: 2}", "agents.worker.model": "large",
	})
	if err != nil {
		t.Fatal(err)
	}
	c := l.Config
	if c.Models["default"].Model != "small" || c.Models["default"].Price == nil || c.Models["large"].Model != "big" ||
		len(c.Models["large"].Fallback) != 1 || c.Workers.Max != 2 || l.Origin["models.large.model"] != "flag models.large" {
		t.Errorf("%+v %+v, from %s", c.Models, c.Workers, l.Origin["models.large.model"])
	}
	for key, value := range map[string]string{"models.default": "{modle: x}", "workers": "{mx: 2}",
		"models.No": "{model: x}", "workers.max": "{a: 1}", "models.x": "{}"} {
		if _, err := load(map[string]string{key: value}); err == nil || !strings.Contains(err.Error(), "flag "+key) {
			t.Errorf("%s=%s: %v", key, value, err)
		}
	}
}
