package gitlogin

import (
	"path/filepath"
	"slices"
	"strings"
)

// Logins are the president's own, as their environment finds them. They may be used
// by many goroutines.
type Logins struct {
	home   string   // the president's home
	env    []string // what their programs get of the environment
	places []string // variables by which git finds its configuration
}

// variables are what credential helpers and ssh find the president's files, agents
// and key stores by. None of them opens a window or names a terminal.
var variables = []string{
	"PATH", "USER", "LOGNAME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR",
	"DBUS_SESSION_BUS_ADDRESS", "SSH_AUTH_SOCK", "GNUPGHOME", "GH_CONFIG_DIR",
}

// configVariables are where git looks for its configuration, if not at the usual places.
var configVariables = []string{"GIT_CONFIG_GLOBAL", "GIT_CONFIG_NOSYSTEM"}

// unattended are variables that keep helpers from asking a question.
var unattended = []string{"GH_PROMPT_DISABLED=1", "GH_NO_UPDATE_NOTIFIER=1", "GCM_INTERACTIVE=never"}

// New finds the logins by an environment. nil: there is no home to look in.
func New(lookup func(string) (string, bool)) *Logins {
	home, ok := lookup("HOME")
	if !ok || !filepath.IsAbs(home) {
		return nil
	}
	l := &Logins{home: home, env: slices.Clone(unattended)}
	for _, name := range slices.Concat(variables, configVariables) {
		v, _ := lookup(name)
		switch {
		case v == "":
		case name == "PATH":
			l.env = append(l.env, name+"="+keepAbsolute(v))
		case slices.Contains(configVariables, name):
			l.places = append(l.places, name+"="+v)
		default:
			l.env = append(l.env, name+"="+v)
		}
	}
	return l
}

// keepAbsolute is a PATH without folders that depend on where a program stands.
func keepAbsolute(path string) string {
	var dirs []string
	for _, dir := range filepath.SplitList(path) {
		if filepath.IsAbs(dir) {
			dirs = append(dirs, dir)
		}
	}
	if len(dirs) == 0 {
		return "/usr/bin:/bin"
	}
	return strings.Join(dirs, string(filepath.ListSeparator))
}
