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
	"company/internal/ecosystem"
	"company/internal/ecosystem/catalog"
	"company/internal/ecosystem/depproxy"
	"company/internal/lib/safetext"
)

// Resolved holds generated lock files that the tree of a request lacks.
type Resolved struct {
	Locks map[string][]byte // by path
	Notes []string          // messages for people about each resolution
}

// Resolve runs ecosystem clients that generate the lock files which the tree of a request lacks. Each
// runs in its own container, which can only reach registries. The result is empty if no lock file is
// missing or no registry is available.
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
	sources := newSources(ctx, &layerPlan{b: b}, tree, req)
	for _, resolver := range catalog.Of[ecosystem.Resolver]() {
		if !slices.Contains(req.Toolchains, resolver.Name()) || slices.Contains(req.Unneeded, resolver.Name()) {
			continue
		}
		resolutions, err := resolver.Resolutions(sources)
		if err != nil {
			return out, err
		}
		for _, resolution := range resolutions {
			if i := slices.IndexFunc(resolution.Wants,
				func(d company.Dependency) bool { return req.isWithout(d.Ecosystem) }); i >= 0 {
				out.Notes = append(out.Notes, fmt.Sprintf("%s has no lock file, and nothing of it is installed: deps.without has "+
					"%s", safetext.StripLine(resolution.Manifest), resolution.Wants[i].Ecosystem))
				continue
			}
			policy, err := b.wantedPolicy(req, resolution)
			var lock []byte
			var made time.Time
			if err == nil {
				lock, made, err = b.resolveLock(ctx, req, resolver.Name(), resolution, policy)
			}
			if err != nil && slices.Contains(req.Spare, resolver.Name()) && company.NeedsPerson(err) {
				out.Notes = append(
					out.Notes,
					fmt.Sprintf("the packages of %s are left out, since no check needs them: %v",
						safetext.StripLine(resolution.Manifest), err))
				continue
			}
			if err != nil {
				return out, layerError(resolver.Name(), err)
			}
			out.Locks[resolution.Lock] = lock
			out.Notes = append(out.Notes, describeResolved(resolution, lock, made))
		}
	}
	return out, nil
}

// wantedPolicy returns a policy that allows the packages that a resolution wants and their
// dependencies.
func (b *Builder) wantedPolicy(req Request, resolution ecosystem.Resolution) (*depproxy.Policy, error) {
	store, policy := b.registryStore(req), depproxy.NewPolicy()
	for _, dependency := range resolution.Wants {
		if err := store.Upstreams().WhyWithheld(company.Dependency{Ecosystem: dependency.Ecosystem}); err != nil {
			return nil, err
		}
		policy.AllowWithNeeds(dependency)
	}
	return policy, nil
}

// resolveLock generates one lock file, or returns the one that was generated for an earlier task of
// the project with the same manifests. made is the time of an earlier lock file, and zero for a new
// one.
func (b *Builder) resolveLock(
	ctx context.Context, req Request, client string, resolution ecosystem.Resolution, policy *depproxy.Policy,
) (lock []byte, made time.Time, err error) {
	under, err := b.ensureClient(ctx, req, client, resolution)
	if err != nil {
		return nil, made, err
	}
	inputs := append([]string{under.id, resolution.Lock}, b.projectKey(req)...)
	for _, f := range resolution.Stage {
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
	install := ecosystem.Install{Layer: path.Base(resolution.Lock), Stage: resolution.Stage,
		Steps: []ecosystem.Step{resolution.Step}, Says: resolution.Says}
	err = b.runInstall(ctx, installJob{
		name: name, image: under.id, stageFiles: func(l *layer) error {
			return stageFiles(l, install)
		}, project: req.project(), timeout: layerTimeout,
		access: &registryAccess{store: b.registryStore(req), policy: policy}, work: func(h *buildSession) error {
			return b.runSteps(ctx, install, h.runStep)
		},
		collect: func(ctx context.Context, name string) error {
			lock, err = b.readBuilt(ctx, name, resolution.Lock)
			return err
		},
	}, work)
	if err == nil {
		b.keepResolved(ctx, req.project(), key, lock)
	}
	return lock, made, err
}

// ensureClient returns the image in which a client runs. It contains the toolchains and the client.
func (b *Builder) ensureClient(
	ctx context.Context, req Request, name string, resolution ecosystem.Resolution,
) (under *existingImage, err error) {
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
	layerPlan, err := b.newPlan(req, base)
	if err != nil {
		return nil, err
	}
	layerPlan.addTools(req, tools)
	for _, install := range resolution.Clients {
		if _, err := layerPlan.addInstall(req, install, name, tools); err != nil {
			return nil, err
		}
	}
	if f, err := b.findImage(ctx, *layerPlan.topStep()); err != nil || f != nil {
		return f, err
	}
	if err := b.checkDaemon(ctx); err != nil {
		return nil, err
	}
	return b.ensureSteps(ctx, layerPlan.steps)
}

// readBuilt reads a file from a stopped build container.
func (b *Builder) readBuilt(ctx context.Context, name, file string) (text []byte, err error) {
	err = b.readTree(ctx, name, path.Join(buildOut, file), func(h *tar.Header, r io.Reader) error {
		if h.Typeflag != tar.TypeReg || h.Size > depproxy.MaxLockFile {
			return company.E(company.EImage, file+" is not a file, or is larger than a lock file may be")
		}
		text, err = io.ReadAll(io.LimitReader(r, depproxy.MaxLockFile))
		return err
	})
	return text, err
}

// describeResolved describes the packages in a generated lock file for people.
func describeResolved(resolution ecosystem.Resolution, lock []byte, made time.Time) string {
	dependencies, _ := depproxy.ParseLocks(map[string][]byte{resolution.Lock: lock})
	var asked []string
	for _, dependency := range dependencies {
		if slices.ContainsFunc(resolution.Wants,
			func(w company.Dependency) bool {
				return w.Ecosystem == dependency.Ecosystem && w.Name == dependency.Name
			}) {
			asked = append(asked, dependency.Name+" "+dependency.Version)
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
	return fmt.Sprintf("%s has no lock file: %s %s: %s (to have the same each time, commit what `%s` makes)",
		safetext.StripLine(resolution.Manifest), company.Count(len(dependencies), "package"), when, names, resolution.ToKeep)
}
