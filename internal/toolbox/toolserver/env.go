package toolserver

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"sort"
	"strings"
)

// defaults are variables of commands that the image does not set. With them Go works offline, from the caches in the
// image.
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

// forced are variables that keep commands from waiting for input: no pager, editor, prompt, colour or progress bars.
// Git's editor accepts the text as it is, because a continued rebase or an amended commit already has a message.
var forced = map[string]string{
	"PAGER": "cat", "GIT_PAGER": "cat", "GH_PAGER": "cat", "MANPAGER": "cat", "SYSTEMD_PAGER": "cat",
	"EDITOR": "false", "VISUAL": "false", "GIT_EDITOR": ":", "GIT_SEQUENCE_EDITOR": ":",
	"GIT_TERMINAL_PROMPT": "0", "GIT_ASKPASS": "", "SSH_ASKPASS": "",
	"NO_COLOR": "1", "TERM": "dumb", "CI": "1",
	"DEBIAN_FRONTEND": "noninteractive", "PIP_PROGRESS_BAR": "off", "PYTHONUNBUFFERED": "1",
}

// gitConfig overrides settings by which a repository's own files could make git run programs. safe.directory allows
// the baked repository, which root owns.
//
// Only keys with a value that turns them off are here. diff.external has none: an empty value is a program without a
// name, and makes every git diff fail. No file that git tracks can set it, but the agent and its programs can, so our
// own calls of git diff use --no-ext-diff.
var gitConfig = [][2]string{
	{"core.hooksPath", "/dev/null"}, {"core.fsmonitor", "false"}, {"credential.helper", ""},
	{"commit.gpgSign", "false"}, {"gc.auto", "0"}, {"maintenance.auto", "false"},
	{"advice.detachedHead", "false"}, {"safe.directory", "*"}, {"protocol.version", "0"},
}

// goCache is the path of Go's baked build cache in an image.
const goCache = "/opt/gocache"

// buildEnv returns the environment of commands. Variables of the image override the defaults, and the forced ones
// override both.
func buildEnv(base []string) []string {
	env := make(map[string]string)
	maps.Copy(env, defaults)
	for _, kv := range base {
		k, v, ok := strings.Cut(kv, "=")
		// Settings of the toolbox are not passed to commands.
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

// lookupVar returns the value of a variable in a list. The last one counts.
func lookupVar(env []string, key string) string {
	for i := len(env) - 1; i >= 0; i-- {
		if v, ok := strings.CutPrefix(env[i], key+"="); ok {
			return v
		}
	}
	return ""
}

// seedCache fills a cache with symbolic links to the files of a baked one (cp -rs). That takes a hundredth of the time
// and memory of a copy, and new entries belong to the container. It returns without changes if there is no baked cache
// or the cache already exists.
func seedCache(from, to string) error {
	if info, err := os.Stat(from); err != nil || !info.IsDir() {
		return nil
	}
	if _, err := os.Stat(to); err == nil {
		return nil
	}
	return filepath.WalkDir(from, func(p string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, p)
		if err != nil {
			return err
		}
		target := filepath.Join(to, rel)
		if entry.IsDir() {
			return os.MkdirAll(target, 0o755)
		}
		return os.Symlink(p, target)
	})
}
