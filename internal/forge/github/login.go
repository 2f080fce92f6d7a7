package github

import (
	"bytes"
	"cmp"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"company/internal/forge"
	"company/internal/gitops/gitexec"
)

// readStoredToken returns the token of gh, GitHub's own tool: from its settings, or by asking it.
func readStoredToken(ctx context.Context, tool forge.Tool) string {
	host := tool.Address.Hostname()
	dir := cmp.Or(tool.Env("GH_CONFIG_DIR"), tool.ConfigDir("gh"))
	return cmp.Or(readGHToken(dir, host), tokenFromGH(ctx, tool, host))
}

// readGHToken returns the token in gh's hosts.yml. gh writes no token there if the system's key store holds it.
func readGHToken(dir, host string) string {
	var hosts map[string]struct {
		Token string `yaml:"oauth_token"`
		User  string `yaml:"user"`
		Users map[string]struct {
			Token string `yaml:"oauth_token"`
		} `yaml:"users"`
	}
	if dir == "" || !forge.ReadLoginFile(filepath.Join(dir, "hosts.yml"), &hosts) {
		return ""
	}
	h := hosts[host]
	if h.Token != "" {
		return h.Token
	}
	return h.Users[h.User].Token
}

// tokenFromGH asks gh itself. gh gets only the variables that it needs to find its settings and the key store.
func tokenFromGH(ctx context.Context, tool forge.Tool, host string) string {
	path := tool.Env("PATH")
	gh := ""
	for _, dir := range filepath.SplitList(path) {
		if p := filepath.Join(dir, "gh"); filepath.IsAbs(p) {
			if info, err := os.Stat(p); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
				gh = p
				break
			}
		}
	}
	if gh == "" {
		return ""
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, gh, "auth", "token", "--hostname", host)
	gitexec.SeparateGroup(cmd)
	cmd.Dir = "/"
	cmd.WaitDelay = time.Second
	for _, name := range []string{"PATH", "HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR", "GH_CONFIG_DIR",
		"DBUS_SESSION_BUS_ADDRESS", "LANG"} {
		if v := tool.Env(name); v != "" {
			cmd.Env = append(cmd.Env, name+"="+v)
		}
	}
	cmd.Env = append(cmd.Env, "GH_PROMPT_DISABLED=1", "GH_NO_UPDATE_NOTIFIER=1")
	out, err := cmd.Output()
	if err != nil {
		return ""
	}
	return string(bytes.TrimSpace(out))
}
