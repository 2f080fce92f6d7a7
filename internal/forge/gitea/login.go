package gitea

import (
	"context"
	"net/url"
	"path/filepath"
	"strings"

	"company/internal/forge"
)

// readStoredToken returns the token in the settings of tea.
func readStoredToken(_ context.Context, tool forge.Tool) string {
	return readTeaToken(tool.ConfigDir("tea"), tool.Address)
}

// readTeaToken returns the token in the settings of tea, Gitea's own tool.
func readTeaToken(dir string, address *url.URL) string {
	var conf struct {
		Logins []struct {
			URL   string `yaml:"url"`
			Token string `yaml:"token"`
		} `yaml:"logins"`
	}
	if dir == "" || !forge.ReadLoginFile(filepath.Join(dir, "config.yml"), &conf) {
		return ""
	}
	for _, l := range conf.Logins {
		u, err := url.Parse(l.URL)
		if err == nil && strings.EqualFold(u.Host, address.Host) &&
			strings.Trim(u.Path, "/") == strings.Trim(address.Path, "/") {
			return l.Token
		}
	}
	return ""
}
