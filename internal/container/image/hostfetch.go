package image

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"company/internal/company"
	"company/internal/ecosystem"
	"company/internal/ecosystem/depproxy"
)

// hostFolder provides an ecosystem's own client with the folders and programs of this host.
type hostFolder struct {
	b        *Builder
	access   *registryAccess
	registry string // its kind
	places   ecosystem.FetchPlaces

	stallAfter time.Duration
}

// fillFetched runs a client on this host to fill a folder, and adds to the layer the files that the
// ecosystem wants. Clients run on the host if they need the operator's own settings. The folder holds
// only the text of lock files, so no code can run.
//
// The client must use our mirror if a policy applies. It must also use it if the operator logs in to
// registries or calls packages private, and the repository may not use that.
func (b *Builder) fillFetched(install ecosystem.Install, req Request, tree hostTree) writeLayerFunc {
	return func(ctx context.Context, _ *existingImage, work string, l *layer) error {
		if err := b.fetchTree(ctx, req, tree); err != nil {
			return err
		}
		hostFolder, stop, err := b.openHostFolder(install, req, work)
		if err != nil {
			return err
		}
		defer stop()
		if tree.wanted != "" {
			hostFolder.places.Toolchain = tree.dir
		}
		if err := hostFolder.fetch(ctx, install); err != nil {
			var fault *company.Error
			if errors.As(err, &fault) && isPermanent(0, err.Error(), install.Says.Permanent) {
				err = fault.NeedsPerson()
			}
			return hostFolder.access.explainError(err)
		}
		return collectFolder(l, install, hostFolder.places.Out)
	}
}

// stallAfter is how long a client may go without a new file before its registry is checked. Some
// clients wait for a silent registry without a time limit.
const stallAfter = 8 * time.Second

// fetch runs the client, and stops it if its registry is unreachable.
func (h *hostFolder) fetch(ctx context.Context, install ecosystem.Install) error {
	ctx, stop := h.access.watchStep(ctx)
	defer stop()
	var watcher sync.WaitGroup
	ended := make(chan struct{})
	watcher.Go(func() {
		_ = company.Guard("watching a client of this host", func() error {
			h.watchStall(ctx, ended)
			return nil
		})
	})
	err := install.Fetch(ctx, h)
	close(ended)
	watcher.Wait()
	if errors.Is(context.Cause(ctx), errRegistryAway) {
		return company.E(company.EImage, "cannot fetch "+install.What).Wrap(errRegistryAway)
	}
	return err
}

// watchStall checks the registry each time the client has made no progress for stallAfter.
func (h *hostFolder) watchStall(ctx context.Context, ended <-chan struct{}) {
	for had := -1; ; {
		select {
		case <-ended:
			return
		case <-ctx.Done():
			return
		case <-time.After(h.stallAfter):
		}
		has := countFiles(h.places.Out)
		if has == had || had < 0 && has == 0 {
			h.checkRegistry(ctx)
		}
		had = has
	}
}

// checkRegistry records that the client's registry is unreachable. It does nothing if the client uses
// our mirror, which records it itself.
func (h *hostFolder) checkRegistry(ctx context.Context) {
	if h.places.Mirror != "" || h.access.store == nil {
		return
	}
	if failure := h.access.store.CheckRegistry(ctx, h.registry); failure != nil {
		h.access.noteFailure(*failure)
	}
}

// countFiles counts the files below a folder.
func countFiles(dir string) (n int) {
	_ = filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			n++
		}
		return nil
	})
	return n
}

// openHostFolder creates the folders of a fetch, and serves a mirror if the client must use one.
func (b *Builder) openHostFolder(
	install ecosystem.Install, req Request, work string,
) (h *hostFolder, stop func(), err error) {
	access := &registryAccess{store: b.registryStore(req)}
	if !install.Own {
		access.policy = req.Repo.Policy
	}
	if access.policy == nil && b.withLogins != nil && !req.UseLogins {
		access.policy = depproxy.NewOpenPolicy(install.Registry)
	}
	user, _ := os.UserHomeDir()
	h = &hostFolder{b: b, access: access, registry: install.Registry, stallAfter: stallAfter,
		places: ecosystem.FetchPlaces{
			Source: filepath.Join(work, "src"), Home: work, Out: filepath.Join(work, "fetched"), User: user,
			UseLogins: req.UseLogins,
		}}
	for _, dir := range []string{h.places.Source, h.places.Out} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, nil, err
		}
	}
	if access.policy == nil {
		return h, func() {}, nil
	}
	h.places.Mirror, stop, err = serveHost(access)
	return h, stop, err
}

// Places returns the folders of one fetch.
func (h *hostFolder) Places() ecosystem.FetchPlaces { return h.places }

// Stage writes the texts of lock files, unless they list packages that this repository may not use.
func (h *hostFolder) Stage(files map[string][]byte) error {
	if err := checkWithheld(h.access.store, files); err != nil {
		return err
	}
	for name, text := range files {
		if err := writeBelow(h.places.Source, name, text); err != nil {
			return err
		}
	}
	return nil
}

// Write writes a file for the client.
func (h *hostFolder) Write(name string, text []byte) error {
	return writeBelow(h.places.Home, name, text)
}

func writeBelow(dir, name string, text []byte) error {
	file := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return err
	}
	return os.WriteFile(file, text, 0o600)
}

// Ask runs a program in the operator's own environment and returns its output.
func (h *hostFolder) Ask(ctx context.Context, env []string, argv ...string) (string, error) {
	return askHost(ctx, env, argv...)
}

// Run runs a program with exactly this environment and returns its output.
func (h *hostFolder) Run(ctx context.Context, dir string, env []string, argv ...string) (string, error) {
	var out bytes.Buffer
	err := runTool(ctx, dir, env, &out, argv...)
	return out.String(), err
}

// Getenv returns a variable of the operator's environment.
func (h *hostFolder) Getenv(name string) (string, bool) { return os.LookupEnv(name) }

// ReportProgress reports a step that takes time.
func (h *hostFolder) ReportProgress(format string, args ...any) {
	h.b.reportProgress(format, args...)
}

// Log logs an error.
func (h *hostFolder) Log(ctx context.Context, message string, err error) {
	h.b.log.InfoContext(ctx, message, "err", err)
}

// Explain adds the cause to a client's failure: our refusal of a package, or the failure of its
// registry.
func (h *hostFolder) Explain(ctx context.Context, err error) error {
	h.checkRegistry(ctx)
	return h.access.explainError(err)
}

// collectFolder copies files of a folder of this host into a layer.
func collectFolder(l *layer, install ecosystem.Install, dir string) error {
	collector := install.Collector()
	err := filepath.WalkDir(dir, func(host string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, host)
		if err != nil || rel == "." {
			return err
		}
		to, ok := collector.Place(ecosystem.Entry{Path: filepath.ToSlash(rel)})
		at := strings.TrimPrefix(to.Path, "/")
		switch {
		case !ok && entry.IsDir():
			return filepath.SkipDir
		case !ok:
			return nil
		case entry.IsDir():
			return l.addDir(at, 0)
		case entry.Type().IsRegular():
			return l.addHostFile(at, fileMode(install, 0), host)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if n, ok := collector.(ecosystem.Noter); ok {
		l.notes = boundNotes(n.Notes())
	}
	return addFiles(l, collector.Files())
}

// checkWithheld returns an error if a lock file lists a module that this repository may not use. It
// runs before any request for modules, because a proxy on this host's disk asks for no password.
func checkWithheld(store *depproxy.Store, texts map[string][]byte) error {
	if store == nil {
		return nil
	}
	named, _ := depproxy.ParseLocks(texts)
	for _, d := range named {
		if err := store.Upstreams().WhyPrivate(d); err != nil {
			return err
		}
	}
	return nil
}

// serveHost serves packages within a policy to a client of this host. The address cannot be guessed.
func serveHost(fetch *registryAccess) (address string, stop func(), err error) {
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	prefix := "/" + rand.Text()
	web := &http.Server{Handler: http.StripPrefix(prefix, fetch.newHandler()), ReadHeaderTimeout: time.Minute,
		MaxHeaderBytes: 16 << 10}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = web.Serve(listener)
	}()
	return "http://" + listener.Addr().String() + prefix, func() {
		_ = web.Close()
		<-done
	}, nil
}

// runTool runs a program of the host with exactly this environment and writes its output to stdout.
// The error contains the end of the program's messages.
func runTool(ctx context.Context, dir string, env []string, stdout io.Writer, argv ...string) error {
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir = dir
	cmd.Env = env
	cmd.Stdout = stdout
	var messages bytes.Buffer
	cmd.Stderr = &messages
	killGroup(cmd)
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		text := strings.TrimSpace(messages.String())
		if len(text) > 2048 {
			text = "… " + text[len(text)-2048:]
		}
		return fmt.Errorf("%s: %w: %s", filepath.Base(argv[0]), err, text)
	}
	return nil
}
