package gitlogin

import (
	"path/filepath"
	"slices"
	"strings"
)

// Logins finds the president's own logins through their environment. It is safe for concurrent use.
type Logins struct {
	home   string   // the president's home
	env    []string // environment for their programs
	places []string // variables with which git finds its configuration
}

// variables lists the variables with which credential helpers and ssh find the president's files, agents and key
// stores. None of them opens a window or names a terminal.
var variables = []string{
	"PATH", "USER", "LOGNAME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR",
	"DBUS_SESSION_BUS_ADDRESS", "SSH_AUTH_SOCK", "GNUPGHOME", "GH_CONFIG_DIR",
}

// configVariables lists the variables that move git's configuration from its default places.
var configVariables = []string{"GIT_CONFIG_GLOBAL", "GIT_CONFIG_NOSYSTEM"}

// unattended lists variables that prevent helpers from prompting.
var unattended = []string{"GH_PROMPT_DISABLED=1", "GH_NO_UPDATE_NOTIFIER=1", "GCM_INTERACTIVE=never"}

// New returns the logins of an environment, or nil if it has no absolute HOME. A nil lookup means an empty environment.
func New(lookup func(string) (string, bool)) *Logins {
	if lookup == nil {
		return nil
	}
	home, ok := lookup("HOME")
	if !ok || !filepath.IsAbs(home) {
		return nil
	}
	logins := &Logins{home: home, env: slices.Clone(unattended)}
	for _, name := range slices.Concat(variables, configVariables) {
		v, _ := lookup(name)
		switch {
		case v == "":
		case name == "PATH":
			logins.env = append(logins.env, name+"="+keepAbsolute(v))
		case slices.Contains(configVariables, name):
			logins.places = append(logins.places, name+"="+v)
		default:
			logins.env = append(logins.env, name+"="+v)
		}
	}
	return logins
}

// keepAbsolute returns a PATH without relative folders.
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
