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
	"company/internal/container/image"
	"company/internal/gitops"
	"company/internal/lib/safedir"
	"company/internal/office"
)

// Garbage is an item of this office that no task needs any more.
type Garbage struct {
	Kind  string         `json:"kind"` // run, state, repository, result, blob, log, container, image
	Name  string         `json:"name"`
	Task  company.TaskID `json:"task,omitempty"`
	Bytes int64          `json:"bytes"` // upper bound of the bytes that its removal frees; 0 if small or unknown
	// Unmerged reports whether it holds work that is on no branch.
	Unmerged bool `json:"unmerged,omitempty"`

	stays   bool // shared with other offices: removal only drops this office's claim
	removal func(context.Context) error
}

// Remove removes the item.
func (g Garbage) Remove(ctx context.Context) error { return g.removal(ctx) }

// retentionPolicy decides which files of an office are still needed.
type retentionPolicy struct {
	keeper *Keeper // reads archived tasks and blobs, and imports records; nil if neither is asked for
	state  *company.State
	office *office.Office
	before time.Time // tasks that ended later are kept
	// unmerged also allows the removal of work that is on no branch. Only a person sets it, never a timer.
	unmerged bool
}

// isFinished reports whether a task is no longer needed. It must have ended before the cutoff date, none of its runs
// may be held, and its pull request, which a follow-up would continue, must be settled.
func (k retentionPolicy) isFinished(task *company.Task) bool {
	if task == nil || !task.Status.Ended() || !k.isOld(task.Ended) {
		return false
	}
	if lead := k.state.LeadOf(task); lead != nil && lead.PR != nil && lead.PR.State == company.PROpen {
		return false
	}
	for _, r := range task.Runs {
		if r.Held {
			return false
		}
	}
	return true
}

// isOld reports whether a task with this end time ended before the cutoff date, or was already cleaned up.
func (k retentionPolicy) isOld(ended time.Time) bool {
	return ended.Before(k.before) || ended.Before(k.state.Office.Cleaned)
}

// isTaskFinished is like isFinished, but the task may be archived.
func (k retentionPolicy) isTaskFinished(id company.TaskID) bool {
	if p := k.state.Past[id]; p != nil && k.state.Tasks[id] == nil {
		return k.isOld(p.Ended) && !k.state.HasOpenPull(p)
	}
	return k.isFinished(k.state.Tasks[id])
}

// isMerged reports whether the task or the subtask of a run is completed. No more of the run's work will be merged
// then: later work superseded the rest.
func (k retentionPolicy) isMerged(ctx context.Context, run company.RunID) bool {
	task := k.keeper.findTask(ctx, k.state, run.Task())
	if task == nil {
		return false
	}
	if task.Status == company.StatusCompleted {
		return true
	}
	r := task.Runs[run]
	if r == nil {
		return false
	}
	sub := task.Subtask(r.Subtask)
	return sub != nil && sub.Status == company.SubtaskCompleted
}

// mayDropRepository reports whether a run's repository can be removed without loss of work. Its age does not matter.
func (k retentionPolicy) mayDropRepository(ctx context.Context, store *gitops.Store, run company.RunID) (bool, error) {
	if r := k.keeper.findRun(ctx, k.state, run); k.isMerged(ctx, run) || r != nil && r.Ended && r.Head != "" {
		return true, nil // the host has the commit: see mayDropResult
	}
	holds, err := store.HoldsWork(ctx, run)
	return !holds, err
}

// mayDropResult reports the same for the result that the host took from a run.
func (k retentionPolicy) mayDropResult(ctx context.Context, mirror *gitops.Mirror, run company.RunID) (bool, error) {
	if k.isMerged(ctx, run) {
		return true, nil
	}
	return mirror.Merged(ctx, run)
}

// listRunFiles lists folders of runs, and logs of companies that run in the background. It skips names that are not
// those of a run in this ledger.
func (k retentionPolicy) listRunFiles(ctx context.Context) ([]Garbage, error) {
	var out []Garbage
	entries, err := k.office.RunsFolder.List(".")
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, entry := range entries {
		run := company.RunID(entry.Name())
		if !entry.IsDir() || !run.Valid() || !k.isTaskFinished(run.Task()) || k.keeper.findRun(ctx, k.state, run) == nil {
			continue
		}
		out = append(
			out, Garbage{Kind: "run", Name: string(run), Task: run.Task(),
				Bytes:   folderBytes(ctx, k.office.RunsFolder, entry.Name()),
				removal: removeIn(k.office.RunsFolder, entry.Name())})
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
	for _, entry := range logs {
		background := entry.Name() == "background.log"
		stacks := strings.HasPrefix(entry.Name(), "stacks-") && strings.HasSuffix(entry.Name(), ".txt")
		unread := strings.HasPrefix(entry.Name(), "reply-") && strings.HasSuffix(entry.Name(), ".txt") // of a model's server
		if !background && !stacks && !unread {
			continue
		}
		// A log that was written to within the last hour may belong to a company that still runs.
		if info, err := entry.Info(); err == nil && info.Mode().IsRegular() && info.ModTime().Before(k.before) &&
			time.Since(info.ModTime()) > time.Hour {
			out = append(
				out, Garbage{Kind: "log", Name: entry.Name(), Bytes: info.Size(),
					removal: removeIn(k.office.LogsFolder, entry.Name())})
		}
	}
	return out, nil
}

// removeIn returns a function that removes a name in a folder of the office, with its contents.
func removeIn(dir *safedir.Folder, name string) func(context.Context) error {
	return func(context.Context) error { return dir.RemoveAll(name) }
}

// listRepositories lists the repositories of runs, and the results of runs in the mirrors.
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
			out = append(
				out, Garbage{Kind: "repository", Unmerged: !spared, Name: string(run), Task: run.Task(),
					Bytes:   folderBytes(ctx, k.office.GitFolder, "runs/"+string(run)+".git"),
					removal: func(ctx context.Context) error { return store.DropQuarantine(ctx, run) }})
		}
	}
	for _, p := range k.listProjects() {
		mirror, err := gitops.LookAt(k.office.Git, remote, p.ID, p.Path)
		if company.CodeOf(err) == company.ENotFound {
			continue // not fetched yet
		}
		if err != nil {
			return nil, err
		}
		results, err := mirror.Results(ctx)
		if err != nil {
			return nil, err
		}
		for _, run := range results {
			if !k.isTaskFinished(run.Task()) {
				continue
			}
			spared, err := k.mayDropResult(ctx, mirror, run)
			if err != nil {
				return nil, err
			}
			if spared || k.unmerged {
				out = append(
					out, Garbage{Kind: "result", Unmerged: !spared, Name: string(run), Task: run.Task(),
						removal: func(ctx context.Context) error { return mirror.DropResult(ctx, run) }})
			}
		}
	}
	return out, nil
}

// listProjects returns the projects of all tasks, archived ones included.
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

// listContainers lists all containers of the office. Call it only while no company works there: none of them is needed
// then.
func (k retentionPolicy) listContainers(ctx context.Context, rt container.Runtime) ([]Garbage, error) {
	all, err := rt.List(ctx, k.state.Office.ID)
	if err != nil {
		return nil, err
	}
	var out []Garbage
	for _, info := range all {
		out = append(out, Garbage{Kind: "container", Name: info.Name,
			removal: func(ctx context.Context) error { return rt.Remove(ctx, info.ID, info.Labels) }})
	}
	return out, nil
}

// listImages lists images that tasks of this office used and that no task needs any more. Images belong to the
// machine, not to the office. Images of other offices and shared layers are left to image prune.
func (k retentionPolicy) listImages(ctx context.Context, builder *image.Builder) ([]Garbage, error) {
	o := officeImages{mirrors: k.office.Git}
	for _, task := range k.state.SortedTasks() {
		switch {
		case !task.IsPrepared():
		case k.isFinished(task):
			o.gone = append(o.gone, task.Prepared.Image)
		default:
			o.keep = append(o.keep, task.Prepared.Image)
		}
	}
	for id, pastTask := range k.state.Past {
		switch {
		case pastTask.Image == "":
		case k.isTaskFinished(id):
			o.gone = append(o.gone, pastTask.Image)
		default:
			o.keep = append(o.keep, pastTask.Image)
		}
	}
	return o.listUnused(ctx, builder, false)
}

// SortGarbage sorts leftovers into the order in which they are shown and removed. Containers come before their images.
// Images keep the order in which they were found, so that they come before the layers below them.
func SortGarbage(all []Garbage) []Garbage {
	order := []string{"container", "image", "repository", "result", "run", "state", "log", "blob"}
	slices.SortStableFunc(all, func(garbage, b Garbage) int {
		kinds := slices.Index(order, garbage.Kind) - slices.Index(order, b.Kind)
		if kinds == 0 && garbage.Kind != "image" {
			return strings.Compare(garbage.Name, b.Name)
		}
		return kinds
	})
	return all
}

// folderBytes returns the size in bytes of the files in a folder that have no other hard link. Unreadable files count
// as 0.
func folderBytes(ctx context.Context, own *safedir.Folder, name string) int64 {
	sum, _ := own.Usage(ctx, name)
	return sum
}
