package prepare

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"

	"company/internal/agentrun/depaccess"
	"company/internal/agentrun/program"
	"company/internal/company"
	"company/internal/container/image"
	"company/internal/ecosystem/depproxy"
	"company/internal/gates"
	"company/internal/gitops"
	"company/internal/lib/safetext"
	"company/internal/lib/shellquote"
)

// TreeImages provides the images for a task's gates and sandboxes: the task's own, or one with other dependencies if
// a tree names others.
type TreeImages struct {
	intake *Intake
	// stores is nil if no registry is used. The task's own image then serves every tree.
	stores *depproxy.Stores
	// made maps the key of an image that a task was prepared with to the key of its rebuilt image.
	made sync.Map
}

// NewTreeImages returns the images of trees, using the intake that prepares tasks.
func NewTreeImages(intake *Intake, stores *depproxy.Stores) *TreeImages {
	return &TreeImages{intake: intake, stores: stores}
}

// ImageForTree returns the image for a commit or tree of a task, on this daemon. If the tree's lock files differ from
// the base's, they may name the base's packages, the task's additions, and their dependencies according to the
// registries. Others are refused with a text for their author. An error is not a judgement of the tree.
func (st *TreeImages) ImageForTree(
	ctx context.Context, task *company.Task, mirror *gitops.Mirror, at company.OID,
) (_ gates.Image, refused string, err error) {
	own, err := st.taskImage(ctx, task, mirror)
	store := st.stores.ForCheckout(ctx, task.Project.Path)
	if err != nil || store == nil {
		return own, "", err
	}
	base := task.Prepared.Base.OID
	unread, err := depaccess.FindUnread(ctx, mirror, base, at)
	if err != nil {
		return own, "", err
	}
	if len(unread) > 0 {
		return own, describeUnread(unread), nil
	}
	moved, err := depaccess.FindMoved(ctx, mirror, base, at)
	if err != nil {
		return own, "", err
	}
	if len(moved) > 0 {
		return own, describeMoved(moved), nil
	}
	exchanged, err := depaccess.FindExchanged(ctx, mirror, base, at)
	if err != nil {
		return own, "", err
	}
	if len(exchanged) > 0 {
		return own, describeExchanged(exchanged), nil
	}
	converted, err := depaccess.FindConverted(ctx, mirror, base, at)
	if err != nil {
		return own, "", err
	}
	if len(converted) > 0 {
		return own, describeConverted(converted), nil
	}
	changed, err := depaccess.Changed(ctx, mirror, base, at)
	if err != nil || !changed {
		return own, "", err
	}
	was, err := depaccess.Locks(ctx, mirror, task.Prepared.Base.OID, task.Prepared.LockTree())
	if err != nil {
		return gates.Image{}, "", err
	}
	if at, err = addTaskLocks(ctx, task, mirror, at, was); err != nil {
		return gates.Image{}, "", err
	}
	is, err := depaccess.Locks(ctx, mirror, task.Prepared.Base.OID, at)
	if err != nil {
		return gates.Image{}, "", err
	}
	copies, err := depaccess.FindCopies(ctx, mirror, base, at)
	if err != nil {
		return gates.Image{}, "", err
	}
	if mirrored := depaccess.FindMirrored(image.MirrorURL, was, is); len(mirrored) > 0 {
		return own, describeMirrored(mirrored), nil
	}
	odd := depproxy.FindUnreadable(was, is)
	if len(odd) == 0 {
		odd, err = depaccess.FindForged(ctx, mirror, at, was, is)
	}
	if err != nil {
		return gates.Image{}, "", err
	}
	if len(odd) > 0 {
		return own, describeUnreadable(odd) + describeCopies(copies), nil
	}
	outside, policy, err := store.Unrequested(ctx, was, task.Dependencies, is)
	if err != nil {
		return gates.Image{}, "", err
	}
	if len(outside) > 0 {
		return own, describeUnrequested(outside) + describeCopies(copies), nil
	}
	overridden, err := depaccess.FindOverridden(ctx, mirror, at, is)
	if err != nil {
		return gates.Image{}, "", err
	}
	foreign, err := store.FindForeign(ctx, was, is, policy, overridden...)
	if err != nil {
		return gates.Image{}, "", err
	}
	if len(foreign) > 0 {
		return own, describeForeign(foreign) + describeCopies(copies), nil
	}
	req, err := st.intake.requestImage(ctx, task, mirror)
	if err != nil {
		return gates.Image{}, "", err
	}
	req.Repo.Locks, req.Repo.Policy = at, policy
	img, err := st.intake.Images.Ensure(ctx, req)
	var fault *company.Error
	switch {
	case errors.As(err, &fault) && fault.Code == company.EImage && ctx.Err() == nil:
		// The base's own lock files made an image before, so the fault is in the branch.
		return own, "The dependencies that the branch's lock files name cannot be prepared: " + fault.Error(), nil
	case err != nil:
		return gates.Image{}, "", err
	}
	return imageHere(img), "", nil
}

// addTaskLocks returns a tree extended by the lock files that were made for the task and that the tree lacks.
func addTaskLocks(
	ctx context.Context, task *company.Task, mirror *gitops.Mirror, at company.OID, was map[string][]byte,
) (company.OID, error) {
	if task.Prepared.Locks == "" {
		return at, nil
	}
	own, err := depaccess.Locks(ctx, mirror, task.Prepared.Base.OID, task.Prepared.Base.OID)
	if err != nil {
		return "", err
	}
	is, err := depaccess.Locks(ctx, mirror, task.Prepared.Base.OID, at)
	if err != nil {
		return "", err
	}
	missing := maps.Clone(was)
	maps.DeleteFunc(missing, func(file string, _ []byte) bool {
		return own[file] != nil || slices.ContainsFunc(
			slices.Collect(maps.Keys(is)), func(has string) bool { return path.Dir(has) == path.Dir(file) })
	})
	return mirror.AddFiles(ctx, at, missing)
}

// requestImage returns the image request of a task whose base is known.
func (in *Intake) requestImage(ctx context.Context, task *company.Task, mirror *gitops.Mirror) (image.Request, error) {
	project, err := in.Projects.SettingsOf(ctx, task)
	if err != nil {
		return image.Request{}, err
	}
	project.Services = task.Prepared.Services // even if the config has changed since
	req, err := project.requestImageAt(ctx, mirror, task.Prepared.Base.OID, task.Prepared.GateTree())
	if err == nil {
		req.Packages, req.Repo.Locks = task.Prepared.Packages, task.Prepared.Locks
		req.Programs = program.Installs(task.Settings.Agents)
	}
	return req, err
}

// describeUnrequested tells a worker which packages of its lock files were not allowed.
func describeUnrequested(outside []company.Dependency) string {
	return "The branch's lock files name packages that are not in the base's, that were not asked for with " +
		"add_dependency, and that nothing which was asked for needs:\n" +
		listPackages(outside) + "Ask for them with add_dependency, or take them out of the lock files."
}

// describeUnread tells a worker which lock files are not read.
func describeUnread(paths []string) string {
	return "Lock files of the branch are links, or too many or too large to be read: " +
		safetext.EscapeLine(strings.Join(paths[:min(len(paths), 10)], ", "), 500) +
		". Have files in their places, as their clients write them."
}

// describeMoved tells a worker which settings move a lock file.
func describeMoved(paths []string) string {
	return "Settings of the branch have a client read its lock file in another place, where it is not compared, or " +
		"leave that unclear: " + safetext.EscapeLine(strings.Join(paths[:min(len(paths), 10)], ", "), 500) +
		". Leave the lock file where it is, without these lines. Have a file in its place, not a link, and each of its " +
		"settings at the beginning of a line."
}

// describeExchanged tells a worker which archives in yarn's cache differ from the base's for the same package.
func describeExchanged(paths []string) string {
	return "Archives in yarn's cache are not the base's for the same package and version, and no registry tells what is " +
		"in them: " + safetext.EscapeLine(strings.Join(paths[:min(len(paths), 10)], ", "), 500) +
		". Take the base's archives, and its lines of yarn.lock and .yarnrc.yml. A yarn or settings that make other " +
		"archives of all packages are for a person to bring in."
}

// describeConverted tells a worker which files git changes at a checkout.
func describeConverted(files []string) string {
	return "Because of git attributes, people check out a different text of these files than the one that is compared: " +
		safetext.EscapeLine(strings.Join(files[:min(len(files), 10)], ", "), 500) +
		". Remove the attribute in brackets from them in .gitattributes, or leave the file as the base has it."
}

// describeCopies tells a worker which lock files are judged because the branch may lead clients to other places than
// its base.
func describeCopies(paths []string) string {
	if len(paths) == 0 {
		return ""
	}
	return "\nThese lie in folders of copies or of material for tests, and count since the branch also changes settings " +
		"of clients, or paths with a variable or a pattern in a manifest, which may lead there: " +
		safetext.EscapeLine(strings.Join(paths[:min(len(paths), 10)], ", "), 500) +
		". Leave either change to a task of its own."
}

// describeMirrored tells a worker how to put public addresses into its lock files.
func describeMirrored(files []string) string {
	var names strings.Builder
	for _, file := range files[:min(len(files), 10)] {
		names.WriteString(" " + shellquote.Quote(safetext.EscapeLine(file, 200)))
	}
	return "Lock files of the branch have packages from " + image.MirrorURL +
		", which is the mirror of this container: people do not reach it. " +
		"Put the addresses there that the base's lock file has, or those of the public registry:\nsed -E -i" +
		mirrorRewrites + names.String()
}

// mirrorRewrites replaces the mirror's addresses by those of the public registries. PyPI redirects from an address
// with a file's name to its real address.
var mirrorRewrites = ` -e 's#` + image.MirrorURL + `/npm/#https://registry.npmjs.org/#g'` +
	` -e 's#` + image.MirrorURL + `/pypi/simple#https://pypi.org/simple#g'` +
	` -e 's#` + image.MirrorURL +
	`/pypi/files/((.)[^/" ]*)/([^/" ]*-([^/" -]+)-[^/" -]+-[^/" -]+\.whl)#https://files.pythonhosted.org/packages/\4/\2/\1/\3#g'` +
	` -e 's#` + image.MirrorURL +
	`/pypi/files/((.)[^/" ]*)/([^/" ]+\.(tar\.[a-z0-9]+|zip))#https://files.pythonhosted.org/packages/source/\2/\1/\3#g'`

// describeUnreadable tells a worker which lock files cannot be judged.
func describeUnreadable(all []depproxy.UnreadableLock) string {
	var b strings.Builder
	b.WriteString("The branch's lock files are not as their clients write them, so that what they name cannot be " +
		"compared with what was asked for:\n")
	for _, one := range all[:min(len(all), 10)] {
		fmt.Fprintf(&b, "- %s: %s\n", safetext.EscapeLine(one.File, 200), safetext.EscapeLine(one.Why, 300))
	}
	return b.String() + "Let their client write them, or take the base's."
}

// describeForeign tells a worker which packages in its lock files come from other sources.
func describeForeign(foreign []depproxy.Foreign) string {
	text := "The branch's lock files have packages from addresses, at commits, with digests, programs or under names " +
		"that " +
		"neither the base's lock files nor the registry give them. The checks run what the registry has; people would get " +
		"something else:\n" +
		listPackages(foreign) + "Let their client write the lock files (composer update NAME), or take the lines of the base."
	if slices.ContainsFunc(foreign, func(f depproxy.Foreign) bool { return f.HasNoDigest }) {
		text += " npm writes no digests where node_modules is there and its lock file is not: remove node_modules before " +
			"`npm install`."
	}
	return text
}

func listPackages[T fmt.Stringer](all []T) string {
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
