package toolserver

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"sort"
	"strings"
)

// defaults are what a command gets where the image says nothing. Go works
// offline with them, from the caches that the image bakes in.
var defaults = map[string]string{
	"PATH":        "/usr/local/go/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
	"HOME":        "/home/agent",
	"USER":        "agent",
	"SHELL":       "/bin/bash",
	"TMPDIR":      "/tmp",
	"LANG":        "C.UTF-8",
	"LC_ALL":      "C.UTF-8",
	"GOTOOLCHAIN": "local",
	"GOPROXY":     "off",
	"GOMODCACHE":  "/opt/gomod",
	"GOFLAGS":     "-buildvcs=false",
	"CGO_ENABLED": "0",
}

// forced keeps commands from waiting for input: no pager, no editor, no prompt,
// no colour, no progress bars. Git's editor is the one that takes the text as
// it is: a rebase that goes on, or an amended commit, has its message already.
var forced = map[string]string{
	"PAGER": "cat", "GIT_PAGER": "cat", "GH_PAGER": "cat", "MANPAGER": "cat", "SYSTEMD_PAGER": "cat",
	"EDITOR": "false", "VISUAL": "false", "GIT_EDITOR": ":", "GIT_SEQUENCE_EDITOR": ":",
	"GIT_TERMINAL_PROMPT": "0", "GIT_ASKPASS": "", "SSH_ASKPASS": "",
	"NO_COLOR": "1", "TERM": "dumb", "CI": "1",
	"DEBIAN_FRONTEND": "noninteractive", "PIP_PROGRESS_BAR": "off", "PYTHONUNBUFFERED": "1",
}

// gitConfig overrides what a repository's own files could ask git to run.
// safe.directory is for the baked repository, which root owns.
//
// A key is here only where some value of it means "nothing". There is none for
// diff.external: an empty one is a program without a name, and every git diff
// dies of it. No file that git tracks can set it; our own calls of git diff say
// --no-ext-diff, since the agent and the programs it runs can.
var gitConfig = [][2]string{
	{"core.hooksPath", "/dev/null"}, {"core.fsmonitor", "false"}, {"credential.helper", ""},
	{"commit.gpgSign", "false"}, {"gc.auto", "0"}, {"maintenance.auto", "false"},
	{"advice.detachedHead", "false"}, {"safe.directory", "*"}, {"protocol.version", "0"},
}

// goCache is where Go's baked build cache lies in an image.
const goCache = "/opt/gocache"

// buildEnv is what commands get: defaults, under what the image gives,
// under what must hold.
func buildEnv(base []string) []string {
	env := make(map[string]string)
	maps.Copy(env, defaults)
	for _, kv := range base {
		k, v, ok := strings.Cut(kv, "=")
		// What steers the toolbox is not for the commands.
		if ok && k != "" && !strings.HasPrefix(k, "TOOLBOX_") && k != "GATEWAY_PORT" {
			env[k] = v
		}
	}
	maps.Copy(env, forced)
	if env["GOCACHE"] == "" {
		env["GOCACHE"] = filepath.Join(env["HOME"], ".cache", "go-build")
	}
	for k := range env {
		if strings.HasPrefix(k, "GIT_CONFIG_") || k == "GIT_EXTERNAL_DIFF" {
			delete(env, k)
		}
	}
	var list []string
	for k, v := range env {
		list = append(list, k+"="+v)
	}
	sort.Strings(list)
	list = append(list, "GIT_CONFIG_COUNT="+itoa(len(gitConfig)))
	for i, kv := range gitConfig {
		list = append(list, "GIT_CONFIG_KEY_"+itoa(i)+"="+kv[0], "GIT_CONFIG_VALUE_"+itoa(i)+"="+kv[1])
	}
	return list
}

// lookupVar is the value of a variable in a list; the last one counts.
func lookupVar(env []string, key string) string {
	for i := len(env) - 1; i >= 0; i-- {
		if v, ok := strings.CutPrefix(env[i], key+"="); ok {
			return v
		}
	}
	return ""
}

// seedCache makes to a cache that reads through symlinks from a baked one
// (cp -rs): a hundredth of a copy's time and memory, and new entries are the
// container's own. Without a baked one, or with a cache there, it does nothing.
func seedCache(from, to string) error {
	if info, err := os.Stat(from); err != nil || !info.IsDir() {
		return nil
	}
	if _, err := os.Stat(to); err == nil {
		return nil
	}
	return filepath.WalkDir(from, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, p)
		if err != nil {
			return err
		}
		target := filepath.Join(to, rel)
		if d.IsDir() {
			return os.MkdirAll(target, 0o755)
		}
		return os.Symlink(p, target)
	})
}
