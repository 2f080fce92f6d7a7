package depproxy

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"company/internal/ecosystem"
	"company/internal/ecosystem/catalog"
	"company/internal/gitexec"
)

// Environment is where settings are read from. The zero value is this process.
type Environment struct {
	Getenv   func(string) string // os.Getenv
	HomeDir  string              // os.UserHomeDir
	RootDir  string              // of /etc/…; "/"
	Programs map[string]string   // where a program is, by its name; else on the PATH
}

// LoadClientSettings reads the registries that the operator's own clients on
// this host are set to, with their proxies, certificates and credentials. The
// clients need not be installed, those apart that alone know their settings.
// Settings that cannot be followed are named in Notes and not served; only ctx's
// end is an error.
func LoadClientSettings(ctx context.Context) (Upstreams, error) {
	return Environment{}.LoadUpstreams(ctx)
}

// LoadUpstreams is LoadClientSettings for another host than this process'.
func (h Environment) LoadUpstreams(ctx context.Context) (Upstreams, error) {
	if h.Getenv == nil {
		h.Getenv = os.Getenv
	}
	if h.HomeDir == "" {
		h.HomeDir, _ = os.UserHomeDir()
	}
	if h.RootDir == "" {
		h.RootDir = "/"
	}
	r := &settingsReader{Environment: h, upstreams: Upstreams{Registries: map[string]ecosystem.Upstream{}}}
	for _, e := range catalog.Of[ecosystem.Proxied]() {
		up, err := e.ReadSettings(ctx, r)
		if err != nil {
			return r.upstreams, err
		}
		r.upstreams.Registries[e.Registry().Name] = up
	}
	r.TrustCA("SSL_CERT_FILE", h.Getenv("SSL_CERT_FILE"))
	return r.upstreams, nil
}

// settingsReader is one pass over the settings: an ecosystem.Host.
type settingsReader struct {
	Environment
	upstreams Upstreams
}

func (r *settingsReader) Env(name string) string { return r.Getenv(name) }
func (r *settingsReader) Home() string           { return r.HomeDir }
func (r *settingsReader) Root() string           { return r.RootDir }

// AddNote keeps a sentence for the operator.
func (r *settingsReader) AddNote(format string, args ...any) {
	r.upstreams.Notes = append(r.upstreams.Notes, fmt.Sprintf(format, args...))
}

// TrustCA trusts the certificates of a file, if there is one: the clients do not
// fail over a missing file either.
func (r *settingsReader) TrustCA(setting, file string) {
	if file == "" {
		return
	}
	switch info, err := os.Stat(file); {
	case err != nil || !info.Mode().IsRegular():
		r.AddNote("%s names a file of certificates that is not there", setting)
	case !slices.Contains(r.upstreams.CAs, file):
		r.upstreams.CAs = append(r.upstreams.CAs, file)
	}
}

const maxSettings = 1 << 20 // bytes of one file

// ReadFile reads a file of settings.
func (r *settingsReader) ReadFile(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxSettings {
		return nil, fs.ErrInvalid
	}
	return os.ReadFile(path)
}

// Glob lists the files that a pattern matches; a folder that cannot be read has
// none.
func (r *settingsReader) Glob(pattern string) []string {
	files, _ := filepath.Glob(pattern)
	return files
}

// Run starts a program of the operator's, outside of any project.
func (r *settingsReader) Run(ctx context.Context, env []string, program string, args ...string) ([]byte, error) {
	if p := r.Programs[program]; p != "" {
		program = p
	}
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir, cmd.Env, cmd.WaitDelay = r.RootDir, append(os.Environ(), env...), 5*time.Second
	gitexec.SeparateGroup(cmd)
	out, err := cmd.Output()
	if errors.Is(err, exec.ErrNotFound) {
		return nil, ecosystem.ErrNoProgram
	}
	return out, err
}
