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
	"company/internal/gitops/gitexec"
)

// Environment defines where settings are read from. The zero value means this process.
type Environment struct {
	Getenv   func(string) string // os.Getenv
	HomeDir  string              // os.UserHomeDir
	RootDir  string              // the parent of etc/…; default "/"
	Programs map[string]string   // name → path; other programs are searched on the PATH
}

// LoadClientSettings reads the registries that the operator's clients on this host use, with proxies, certificates
// and credentials. The clients need not be installed, except those that must be asked for their settings. Settings
// that cannot be followed are listed in Notes and not served. The only error is the end of ctx.
func LoadClientSettings(ctx context.Context) (Upstreams, error) {
	return Environment{}.LoadUpstreams(ctx)
}

// LoadUpstreams is LoadClientSettings for the host that h describes.
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
	reader := &settingsReader{Environment: h, upstreams: Upstreams{Registries: map[string]ecosystem.Upstream{}}}
	for _, proxied := range catalog.Of[ecosystem.Proxied]() {
		up, err := proxied.ReadSettings(ctx, reader)
		if err != nil {
			return reader.upstreams, err
		}
		reader.upstreams.Registries[proxied.Registry().Name] = up
	}
	reader.TrustCA("SSL_CERT_FILE", h.Getenv("SSL_CERT_FILE"))
	return reader.upstreams, nil
}

// settingsReader implements ecosystem.Host for one pass over the settings.
type settingsReader struct {
	Environment
	upstreams Upstreams
}

func (r *settingsReader) Env(name string) string { return r.Getenv(name) }
func (r *settingsReader) Home() string           { return r.HomeDir }
func (r *settingsReader) Root() string           { return r.RootDir }

// AddNote keeps a note for the operator.
func (r *settingsReader) AddNote(format string, args ...any) {
	r.upstreams.Notes = append(r.upstreams.Notes, fmt.Sprintf(format, args...))
}

// TrustCA trusts the certificates in a file. A missing file only adds a note, because clients do not fail either.
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

// Glob lists the files that match a pattern. Unreadable folders match no files.
func (r *settingsReader) Glob(pattern string) []string {
	files, _ := filepath.Glob(pattern)
	return files
}

// Run runs a program of the operator outside of any project.
func (r *settingsReader) Run(ctx context.Context, env []string, program string, args ...string) ([]byte, error) {
	if p := r.Programs[program]; p != "" {
		program = p
	}
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir = r.RootDir
	cmd.Env = append(os.Environ(), env...)
	cmd.WaitDelay = 5 * time.Second
	gitexec.SeparateGroup(cmd)
	out, err := cmd.Output()
	if errors.Is(err, exec.ErrNotFound) {
		return nil, ecosystem.ErrNoProgram
	}
	return out, err
}
