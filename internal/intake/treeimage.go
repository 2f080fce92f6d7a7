package intake

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"

	"company/internal/company"
	"company/internal/depaccess"
	"company/internal/depproxy"
	"company/internal/gates"
	"company/internal/gitops"
	"company/internal/image"
)

// TreeImages gives the gates and the sandboxes of a task their images: the
// task's own, or one with other dependencies where a tree names others.
type TreeImages struct {
	intake *Intake
	// stores are nil when no registry is asked: the task's own image serves every
	// tree.
	stores *depproxy.Stores
	// made are the keys of images that were made in place of those that tasks were
	// prepared with, by theirs.
	made sync.Map
}

// NewTreeImages makes the images of trees with what tasks are prepared with.
func NewTreeImages(in *Intake, stores *depproxy.Stores) *TreeImages {
	return &TreeImages{intake: in, stores: stores}
}

// ImageForTree is the image for a commit or tree of a task, on this daemon. Where its lock
// files are not the base's, they may name the base's packages, the task's
// additions, and the dependencies of those by the registries' account; others
// are refused, with a text for their author. An error says nothing about the
// tree.
func (st *TreeImages) ImageForTree(ctx context.Context, t *company.Task, m *gitops.Mirror, at company.OID) (_ gates.Image, refused string, err error) {
	own, err := st.taskImage(ctx, t, m)
	store := st.stores.ForCheckout(ctx, t.Project.Path)
	if err != nil || store == nil || !t.IsPrepared() {
		return own, "", err
	}
	base := t.Prepared.Base.OID
	changed, err := depaccess.Changed(ctx, m, base, at)
	if err != nil || !changed {
		return own, "", err
	}
	was, err := depaccess.Locks(ctx, m, t.Prepared.LockTree())
	if err != nil {
		return gates.Image{}, "", err
	}
	if at, err = addTaskLocks(ctx, t, m, at, was); err != nil {
		return gates.Image{}, "", err
	}
	is, err := depaccess.Locks(ctx, m, at)
	if err != nil {
		return gates.Image{}, "", err
	}
	outside, policy, err := store.Unrequested(ctx, was, t.Dependencies, is)
	if err != nil {
		return gates.Image{}, "", err
	}
	if len(outside) > 0 {
		return own, describeUnrequested(outside), nil
	}
	foreign, err := store.FindForeign(ctx, was, is, policy)
	if err != nil {
		return gates.Image{}, "", err
	}
	if len(foreign) > 0 {
		return own, describeForeign(foreign), nil
	}
	req, err := st.intake.requestImage(ctx, t, m)
	if err != nil {
		return gates.Image{}, "", err
	}
	req.Repo.Locks, req.Repo.Policy = at, policy
	img, err := st.intake.Images.Ensure(ctx, req)
	var e *company.Error
	switch {
	case errors.As(err, &e) && e.Code == company.EImage && ctx.Err() == nil:
		// The base's own lock files made an image before.
		return own, "The dependencies that the branch's lock files name cannot be prepared: " + e.Error(), nil
	case err != nil:
		return gates.Image{}, "", err
	}
	return imageHere(img), "", nil
}

// addTaskLocks is a tree with those lock files that were made for the task and that
// the tree does not have itself.
func addTaskLocks(ctx context.Context, t *company.Task, m *gitops.Mirror, at company.OID, was map[string][]byte) (company.OID, error) {
	if t.Prepared.Locks == "" {
		return at, nil
	}
	own, err := depaccess.Locks(ctx, m, t.Prepared.Base.OID)
	if err != nil {
		return "", err
	}
	is, err := depaccess.Locks(ctx, m, at)
	if err != nil {
		return "", err
	}
	missing := maps.Clone(was)
	maps.DeleteFunc(missing, func(file string, _ []byte) bool {
		return own[file] != nil || slices.ContainsFunc(slices.Collect(maps.Keys(is)), func(has string) bool { return path.Dir(has) == path.Dir(file) })
	})
	return m.AddFiles(ctx, at, missing)
}

// requestImage is what the image of a task is asked for whose base is found.
func (in *Intake) requestImage(ctx context.Context, t *company.Task, m *gitops.Mirror) (image.Request, error) {
	p, err := in.Projects.SettingsOf(ctx, t)
	if err != nil {
		return image.Request{}, err
	}
	p.Services = t.Prepared.Services // whatever the config has come to say since
	req, err := p.requestImageAt(ctx, m, t.Prepared.Base.OID, t.Prepared.GateTree())
	if err == nil {
		req.Repo.Locks = t.Prepared.Locks
	}
	return req, err
}

// describeUnrequested names for a worker the packages of its lock files that
// were not allowed.
func describeUnrequested(outside []company.Dependency) string {
	return "The branch's lock files name packages that are not in the base's, that were not asked for with add_dependency, and that nothing which was asked for needs:\n" +
		listPackages(outside) + "Ask for them with add_dependency, or take them out of the lock files."
}

// describeForeign names for a worker the packages that its lock files have from elsewhere.
func describeForeign(foreign []company.Dependency) string {
	return "The branch's lock files have packages from addresses, or at commits, that neither the base's lock files nor the registry name. The checks run what the registry has; people would get another file:\n" +
		listPackages(foreign) + "Let their client write the lock files (composer update NAME), or take the lines of the base."
}

func listPackages(all []company.Dependency) string {
	var b strings.Builder
	for i, d := range all {
		if i == 20 {
			fmt.Fprintf(&b, "- and %d more\n", len(all)-i)
			break
		}
		fmt.Fprintf(&b, "- %s\n", d)
	}
	return b.String()
}
