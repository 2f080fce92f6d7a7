package upkeep

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"time"

	"company/internal/company"
	"company/internal/container"
	"company/internal/folder"
	"company/internal/gitops"
	"company/internal/image"
	"company/internal/office"
)

// Garbage is one thing of this office that no task needs any more.
type Garbage struct {
	Kind  string         `json:"kind"` // run, state, repository, result, blob, log, container, image
	Name  string         `json:"name"`
	Task  company.TaskID `json:"task,omitempty"`
	Bytes int64          `json:"bytes"` // that its removal frees at most; 0: next to nothing, or not known
	// Unmerged: it holds work that no branch holds.
	Unmerged bool `json:"unmerged,omitempty"`

	stays   bool // others have it: its removal only takes this office off
	removal func(context.Context) error
}

// Remove removes it.
func (g Garbage) Remove(ctx context.Context) error { return g.removal(ctx) }

// retentionPolicy knows what of an office is still needed.
type retentionPolicy struct {
	keeper *Keeper // reads archived tasks and blobs, and brings in records; nil: no one is asked for
	state  *company.State
	office *office.Office
	before time.Time // tasks that ended later are kept
	// unmerged lets go of work, too, that no branch holds. A person says so,
	// and never a clock.
	unmerged bool
}

// isFinished says that nothing of a task will be asked for again: it ended
// before the date, none of its runs is held, and its pull request, which a
// follow-up would go on with, is settled.
func (k retentionPolicy) isFinished(t *company.Task) bool {
	if t == nil || !t.Status.Ended() || !k.isOld(t.Ended) {
		return false
	}
	if lead := k.state.LeadOf(t); lead != nil && lead.PR != nil && lead.PR.State == company.PROpen {
		return false
	}
	for _, r := range t.Runs {
		if r.Held {
			return false
		}
	}
	return true
}

// isOld says whether a task that ended then ended before the date, or was let go of.
func (k retentionPolicy) isOld(ended time.Time) bool {
	return ended.Before(k.before) || ended.Before(k.state.Office.Cleaned)
}

// isTaskFinished is isFinished of a task that may be archived.
func (k retentionPolicy) isTaskFinished(id company.TaskID) bool {
	if p := k.state.Past[id]; p != nil && k.state.Tasks[id] == nil {
		return k.isOld(p.Ended) && !k.state.HasOpenPull(p)
	}
	return k.isFinished(k.state.Tasks[id])
}

// isMerged says that the work of a run is in a branch as far as it ever will be:
// its subtask was merged, with which what came before is superseded.
func (k retentionPolicy) isMerged(ctx context.Context, run company.RunID) bool {
	t := k.keeper.findTask(ctx, k.state, run.Task())
	if t == nil {
		return false
	}
	if t.Status == company.StatusCompleted {
		return true
	}
	r := t.Runs[run]
	if r == nil {
		return false
	}
	sub := t.Subtask(r.Subtask)
	return sub != nil && sub.Status == company.SubtaskCompleted
}

// mayDropRepository says that a run's repository holds nothing that would be
// lost with it. How old it is says nothing about that.
func (k retentionPolicy) mayDropRepository(ctx context.Context, store *gitops.Store, run company.RunID) (bool, error) {
	if r := k.keeper.findRun(ctx, k.state, run); k.isMerged(ctx, run) || r != nil && r.Ended && r.Head != "" {
		return true, nil // the host has it: see mayDropResult
	}
	holds, err := store.HoldsWork(ctx, run)
	return !holds, err
}

// mayDropResult is the same of what the host took from a run.
func (k retentionPolicy) mayDropResult(ctx context.Context, m *gitops.Mirror, run company.RunID) (bool, error) {
	if k.isMerged(ctx, run) {
		return true, nil
	}
	return m.Merged(ctx, run)
}

// listRunFiles are the folders of runs and the logs of companies in the background.
// What does not bear the name of a run of this ledger is not ours to judge.
func (k retentionPolicy) listRunFiles(ctx context.Context) ([]Garbage, error) {
	var out []Garbage
	entries, err := k.office.RunsFolder.List(".")
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, e := range entries {
		run := company.RunID(e.Name())
		if !e.IsDir() || !run.Valid() || !k.isTaskFinished(run.Task()) || k.keeper.findRun(ctx, k.state, run) == nil {
			continue
		}
		out = append(out, Garbage{Kind: "run", Name: string(run), Task: run.Task(), Bytes: folderBytes(ctx, k.office.RunsFolder, e.Name()),
			removal: removeIn(k.office.RunsFolder, e.Name())})
	}
	states, err := k.listStateFiles()
	if err != nil {
		return nil, err
	}
	out = append(out, states...)
	logs, err := k.office.LogsFolder.List(".")
	if err != nil {
		return nil, err
	}
	for _, e := range logs {
		detached := strings.HasPrefix(e.Name(), "detached-") && strings.HasSuffix(e.Name(), ".log")
		stacks := strings.HasPrefix(e.Name(), "stacks-") && strings.HasSuffix(e.Name(), ".txt")
		if !detached && !stacks {
			continue
		}
		// One that is written to just now may be of a company that follows.
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() && info.ModTime().Before(k.before) && time.Since(info.ModTime()) > time.Hour {
			out = append(out, Garbage{Kind: "log", Name: e.Name(), Bytes: info.Size(), removal: removeIn(k.office.LogsFolder, e.Name())})
		}
	}
	return out, nil
}

// removeIn removes a name in a folder of the office, with everything below it.
func removeIn(dir *folder.Folder, name string) func(context.Context) error {
	return func(context.Context) error { return dir.RemoveAll(name) }
}

// listRepositories is the repositories of runs, and what the mirrors keep of runs.
func (k retentionPolicy) listRepositories(ctx context.Context, store *gitops.Store, remote string) ([]Garbage, error) {
	var out []Garbage
	runs, err := store.Quarantines()
	if err != nil {
		return nil, err
	}
	for _, run := range runs {
		if !k.isTaskFinished(run.Task()) {
			continue
		}
		spared, err := k.mayDropRepository(ctx, store, run)
		if err != nil {
			return nil, err
		}
		if spared || k.unmerged {
			out = append(out, Garbage{Kind: "repository", Unmerged: !spared, Name: string(run), Task: run.Task(), Bytes: folderBytes(ctx, k.office.GitFolder, "runs/"+string(run)+".git"),
				removal: func(ctx context.Context) error { return store.DropQuarantine(ctx, run) }})
		}
	}
	for _, p := range k.listProjects() {
		m, err := gitops.LookAt(k.office.Git, remote, p.ID, p.Path)
		if company.CodeOf(err) == company.ENotFound {
			continue // nothing was fetched
		}
		if err != nil {
			return nil, err
		}
		results, err := m.Results(ctx)
		if err != nil {
			return nil, err
		}
		for _, run := range results {
			if !k.isTaskFinished(run.Task()) {
				continue
			}
			spared, err := k.mayDropResult(ctx, m, run)
			if err != nil {
				return nil, err
			}
			if spared || k.unmerged {
				out = append(out, Garbage{Kind: "result", Unmerged: !spared, Name: string(run), Task: run.Task(), removal: func(ctx context.Context) error { return m.DropResult(ctx, run) }})
			}
		}
	}
	return out, nil
}

// listProjects are those of all tasks.
func (k retentionPolicy) listProjects() []company.Project {
	paths := map[string]string{}
	for id, u := range k.state.PastProjects {
		paths[id] = u.Path
	}
	for _, t := range k.state.SortedTasks() {
		paths[t.Project.ID] = t.Project.Path
	}
	var out []company.Project
	for _, id := range slices.Sorted(maps.Keys(paths)) {
		out = append(out, company.Project{ID: id, Path: paths[id]})
	}
	return out
}

// listContainers are those of the office. It may only be called while no
// company works there: then none is needed.
func (k retentionPolicy) listContainers(ctx context.Context, rt container.Runtime) ([]Garbage, error) {
	all, err := rt.List(ctx, k.state.Office.ID)
	if err != nil {
		return nil, err
	}
	var out []Garbage
	for _, c := range all {
		out = append(out, Garbage{Kind: "container", Name: c.Name,
			removal: func(ctx context.Context) error { return rt.Remove(ctx, c.ID, c.Labels) }})
	}
	return out, nil
}

// listImages are those that tasks of this office were worked on with, and that
// none needs any more. Images are the machine's, not the office's: those of
// other offices, and layers that are shared, are left to image prune.
func (k retentionPolicy) listImages(ctx context.Context, b *image.Builder) ([]Garbage, error) {
	o := officeImages{mirrors: k.office.Git}
	for _, t := range k.state.SortedTasks() {
		if k.isFinished(t) {
			o.gone = append(o.gone, t.ListImages()...)
		} else {
			o.keep = append(o.keep, t.ListImages()...)
		}
	}
	for id, p := range k.state.Past {
		switch {
		case p.Image == "":
		case k.isTaskFinished(id):
			o.gone = append(o.gone, p.Image)
		default:
			o.keep = append(o.keep, p.Image)
		}
	}
	return o.listUnused(ctx, b, false)
}

// SortGarbage is the order in which leftovers are shown and removed: containers
// before the images that they are made from, and images before the layers below them, as
// they were found.
func SortGarbage(all []Garbage) []Garbage {
	order := []string{"container", "image", "repository", "result", "run", "state", "log", "blob"}
	slices.SortStableFunc(all, func(a, b Garbage) int {
		kinds := slices.Index(order, a.Kind) - slices.Index(order, b.Kind)
		if kinds == 0 && a.Kind != "image" {
			return strings.Compare(a.Name, b.Name)
		}
		return kinds
	})
	return all
}

// folderBytes is how many bytes the files of a folder hold that are nowhere else. What
// cannot be read counts nothing.
func folderBytes(ctx context.Context, own *folder.Folder, name string) int64 {
	sum, _ := own.Usage(ctx, name)
	return sum
}
