// Package gitexectest creates repositories and environments that try to make git run a program. The canary shows
// whether that succeeded.
package gitexectest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Canary is a program that leaves a mark when it runs.
type Canary struct {
	t             *testing.T
	program, mark string
}

// NewCanary creates a canary that has not run yet.
func NewCanary(t *testing.T) *Canary {
	t.Helper()
	dir := t.TempDir()
	canary := &Canary{t: t, program: filepath.Join(dir, "canary"), mark: filepath.Join(dir, "mark")}
	canary.write(canary.program, "#!/bin/sh\necho \"$0 $*\" >>"+canary.mark+"\nexit 0\n", 0o755)
	return canary
}

func (c *Canary) write(path, text string, mode os.FileMode) {
	c.t.Helper()
	err := os.MkdirAll(filepath.Dir(path), 0o755)
	if err == nil {
		err = os.WriteFile(path, []byte(text), mode)
	}
	if err != nil {
		c.t.Fatal(err)
	}
}

// Ran returns the calls since the last Ran, or "" if there were none.
func (c *Canary) Ran() string {
	text, _ := os.ReadFile(c.mark)
	_ = os.Remove(c.mark)
	return strings.TrimSpace(string(text))
}

// Config returns a configuration that names the program wherever git would run one.
func (c *Canary) Config() string {
	return strings.ReplaceAll(`[core]
	fsmonitor = CANARY
	hooksPath = DIR/hooks
	attributesFile = DIR/attributes
	sshCommand = CANARY
	askPass = CANARY
	gitProxy = CANARY
	pager = CANARY
	editor = CANARY
	alternateRefsCommand = CANARY
[alias]
	rev-parse = !CANARY
[diff]
	external = CANARY
[diff "x"]
	command = CANARY
	textconv = CANARY
[filter "x"]
	clean = CANARY
	smudge = CANARY
	process = CANARY
	required = true
[merge "x"]
	driver = CANARY
[credential]
	helper = !CANARY
[gpg]
	program = CANARY
[commit]
	gpgSign = true
[uploadpack]
	packObjectsHook = CANARY
[receive]
	procReceiveRefs = refs
[protocol]
	allow = always
[remote "origin"]
	uploadpack = CANARY
	receivepack = CANARY
	vcs = CANARY
	proxy = http://127.0.0.1:1
[submodule]
	recurse = true
[pager]
	log = CANARY
`, "CANARY", c.program)
}

// Poison makes a repository hostile with its configuration, its hooks and its attributes. gitDir is its .git, or a
// bare repository itself.
func (c *Canary) Poison(gitDir string) {
	c.t.Helper()
	config := filepath.Join(gitDir, "config")
	have, err := os.ReadFile(config)
	if err != nil {
		c.t.Fatal(err)
	}
	dir := filepath.Dir(c.program)
	c.write(config, string(have)+strings.ReplaceAll(c.Config(), "DIR", dir), 0o644)
	for _, at := range []string{filepath.Join(gitDir, "hooks"), filepath.Join(dir, "hooks")} {
		for _, hook := range []string{"post-index-change", "reference-transaction", "post-checkout", "pre-receive", "update",
			"post-update", "pre-push", "pre-commit", "fsmonitor-watchman"} {
			c.write(filepath.Join(at, hook), "#!/bin/sh\nexec "+c.program+" "+hook+"\n", 0o755)
		}
	}
	for _, at := range []string{filepath.Join(gitDir, "info/attributes"), filepath.Join(dir, "attributes")} {
		c.write(at, "* filter=x diff=x merge=x\n", 0o644)
	}
}

// PoisonEnvironment makes the test's environment hostile. Programs with git's names come first in PATH, and every
// variable that makes git run a program names the canary.
func (c *Canary) PoisonEnvironment() {
	c.t.Helper()
	dir := filepath.Join(filepath.Dir(c.program), "bin")
	for _, name := range []string{"git", "ssh", "sh", "git-upload-pack", "git-index-pack", "git-pack-objects",
		"git-remote-https", "less"} {
		c.write(filepath.Join(dir, name), "#!/bin/sh\nexec "+c.program+" "+name+"\n", 0o755)
	}
	home := filepath.Join(filepath.Dir(c.program), "home")
	c.write(filepath.Join(home, ".gitconfig"), c.Config(), 0o644)
	c.write(filepath.Join(home, "git", "config"), c.Config(), 0o644)
	for name, value := range map[string]string{
		"PATH": dir + ":" + os.Getenv("PATH"), "HOME": home, "XDG_CONFIG_HOME": home, "GIT_EXEC_PATH": dir,
		"GIT_CONFIG_GLOBAL": filepath.Join(home, ".gitconfig"), "GIT_CONFIG_SYSTEM": filepath.Join(home, ".gitconfig"),
		"GIT_CONFIG":       filepath.Join(home, ".gitconfig"),
		"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "core.fsmonitor", "GIT_CONFIG_VALUE_0": c.program,
		"GIT_CONFIG_PARAMETERS": "'core.fsmonitor'='" + c.program + "'",
		"GIT_SSH":               c.program, "GIT_SSH_COMMAND": c.program, "GIT_ASKPASS": c.program, "SSH_ASKPASS": c.program,
		"GIT_EXTERNAL_DIFF": c.program,
		"GIT_PAGER":         c.program, "PAGER": c.program, "GIT_EDITOR": c.program, "EDITOR": c.program,
		"GIT_PROXY_COMMAND": c.program, "GIT_ALLOW_PROTOCOL": "ext:file:https",
		"GIT_DIR": filepath.Join(home, "nowhere"), "GIT_WORK_TREE": home, "GIT_INDEX_FILE": filepath.Join(home, "index"),
		"GIT_OBJECT_DIRECTORY": home,
	} {
		c.t.Setenv(name, value)
	}
}
