package image

import (
	"archive/tar"
	"context"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
	"time"

	"company/internal/company"
	"company/internal/depproxy"
	"company/internal/ecosystem"
	"company/internal/ecosystem/catalog"
	"company/internal/safetext"
)

// Resolved are lock files that the tree of a request lacks.
type Resolved struct {
	Locks map[string][]byte // by path
	Notes []string          // for people: what was resolved, for each of them
}

// Resolve has the clients of ecosystems make the lock files that the tree of a
// request lacks, each in a container of its own that reaches registries alone.
// None lacks, or no registry is at hand: there are none.
func (b *Builder) Resolve(ctx context.Context, req Request) (Resolved, error) {
	out := Resolved{Locks: map[string][]byte{}}
	if err := req.validateRequest(); err != nil || req.Repo == nil || req.Offline || b.registryStore(req) == nil {
		return out, err
	}
	ctx, cancel := b.withTimeout(ctx, req)
	defer cancel()
	tree, err := listTree(ctx, *req.Repo, req.Repo.locksCommit())
	if err != nil {
		return out, err
	}
	s := newSources(ctx, &layerPlan{b: b}, tree, req)
	for _, e := range catalog.Of[ecosystem.Resolver]() {
		if !slices.Contains(req.Toolchains, e.Name()) || slices.Contains(req.Unneeded, e.Name()) {
			continue
		}
		all, err := e.Resolutions(s)
		if err != nil {
			return out, err
		}
		for _, r := range all {
			if i := slices.IndexFunc(r.Wants, func(d company.Dependency) bool { return req.isWithout(d.Ecosystem) }); i >= 0 {
				out.Notes = append(out.Notes, fmt.Sprintf("%s has no lock file, and nothing of it is installed: deps.without has %s", safetext.StripLine(r.Manifest), r.Wants[i].Ecosystem))
				continue
			}
			policy, err := b.wantedPolicy(req, r)
			var lock []byte
			var made time.Time
			if err == nil {
				lock, made, err = b.resolveLock(ctx, req, e.Name(), r, policy)
			}
			if err != nil && slices.Contains(req.Spare, e.Name()) && company.NeedsPerson(err) {
				out.Notes = append(out.Notes, fmt.Sprintf("the packages of %s are left out, since no check needs them: %v", safetext.StripLine(r.Manifest), err))
				continue
			}
			if err != nil {
				return out, layerError(e.Name(), err)
			}
			out.Locks[r.Lock] = lock
			out.Notes = append(out.Notes, describeResolved(r, lock, made))
		}
	}
	return out, nil
}

// wantedPolicy lets all be fetched that a resolution wants, and what that needs.
func (b *Builder) wantedPolicy(req Request, r ecosystem.Resolution) (*depproxy.Policy, error) {
	store, policy := b.registryStore(req), depproxy.NewPolicy()
	for _, d := range r.Wants {
		if err := store.Upstreams().WhyWithheld(company.Dependency{Ecosystem: d.Ecosystem}); err != nil {
			return nil, err
		}
		policy.AllowWithNeeds(d)
	}
	return policy, nil
}

// resolveLock has one lock file made, or the one that was made for an earlier task of
// the project on the same manifests; made is when that was, and zero for a new one.
func (b *Builder) resolveLock(ctx context.Context, req Request, client string, r ecosystem.Resolution, policy *depproxy.Policy) (lock []byte, made time.Time, err error) {
	under, err := b.ensureClient(ctx, req, client, r)
	if err != nil {
		return nil, made, err
	}
	inputs := append([]string{under.id, r.Lock}, b.projectKey(req)...)
	for _, f := range r.Stage {
		inputs = append(inputs, f.Path, string(f.Text))
	}
	key := hashKey(inputs...)
	name := "resolve-" + string(key[:20])
	unlock, err := b.lockLayer(ctx, name)
	if err != nil {
		return nil, made, err
	}
	defer unlock()
	if lock, made = b.readResolved(req.project(), key); lock != nil {
		return lock, made, nil
	}
	work, remove, err := b.openWorkDir(name)
	if err != nil {
		return nil, made, err
	}
	defer remove()
	in := ecosystem.Install{Layer: path.Base(r.Lock), Stage: r.Stage, Steps: []ecosystem.Step{r.Step}, Says: r.Says}
	err = b.runInstall(ctx, installJob{
		name: name, image: under.id, stageFiles: func(l *layer) error { return stageFiles(l, in) }, project: req.project(), timeout: layerTimeout,
		access: &registryAccess{store: b.registryStore(req), policy: policy}, work: func(h *buildSession) error { return b.runSteps(ctx, in, h.runStep) },
		collect: func(ctx context.Context, name string) error {
			lock, err = b.readBuilt(ctx, name, r.Lock)
			return err
		},
	}, work)
	if err == nil {
		b.keepResolved(ctx, req.project(), key, lock)
	}
	return lock, made, err
}

// ensureClient has the image that a client runs in: the toolchains, and the client.
func (b *Builder) ensureClient(ctx context.Context, req Request, name string, r ecosystem.Resolution) (under *existingImage, err error) {
	base, err := b.findBase(ctx, req)
	if err == nil {
		err = b.resolveFrom(ctx, &base)
	}
	if err != nil {
		return nil, err
	}
	tools, err := b.toolsFor(ctx, req, base)
	if err != nil {
		return nil, err
	}
	p, err := b.newPlan(req, base)
	if err != nil {
		return nil, err
	}
	p.addTools(req, tools)
	for _, in := range r.Clients {
		if _, err := p.addInstall(req, in, name, tools); err != nil {
			return nil, err
		}
	}
	if f, err := b.findImage(ctx, *p.topStep()); err != nil || f != nil {
		return f, err
	}
	if err := b.checkDaemon(ctx); err != nil {
		return nil, err
	}
	return b.ensureSteps(ctx, p.steps)
}

// readBuilt reads a file that the steps have left in a stopped build container.
func (b *Builder) readBuilt(ctx context.Context, name, file string) (text []byte, err error) {
	err = b.readTree(ctx, name, path.Join(buildOut, file), func(h *tar.Header, r io.Reader) error {
		if h.Typeflag != tar.TypeReg || h.Size > depproxy.MaxLockFile {
			return company.E(company.EImage, file+" is no file, or is over the bound of a lock file")
		}
		text, err = io.ReadAll(io.LimitReader(r, depproxy.MaxLockFile))
		return err
	})
	return text, err
}

// describeResolved tells people which packages a lock file that was made here names.
func describeResolved(r ecosystem.Resolution, lock []byte, made time.Time) string {
	all, _ := depproxy.ParseLocks(map[string][]byte{r.Lock: lock})
	var asked []string
	for _, d := range all {
		if slices.ContainsFunc(r.Wants, func(w company.Dependency) bool { return w.Ecosystem == d.Ecosystem && w.Name == d.Name }) {
			asked = append(asked, d.Name+" "+d.Version)
		}
	}
	const most = 6
	names := strings.Join(asked[:min(len(asked), most)], ", ")
	if n := len(asked) - most; n > 0 {
		names += fmt.Sprintf(" and %d more", n)
	}
	when := "resolved for this task"
	if !made.IsZero() {
		when = "as resolved for an earlier task at " + made.Format("2006-01-02 15:04")
	}
	return fmt.Sprintf("%s has no lock file: %s %s: %s (to have the same each time, commit what `%s` makes)", safetext.StripLine(r.Manifest), company.Count(len(all), "package"), when, names, r.ToKeep)
}
