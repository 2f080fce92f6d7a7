package prepare

import (
	"cmp"
	"context"
	"errors"
	"strings"

	"company/internal/company"
	"company/internal/container/image"
	"company/internal/ecosystem"
	"company/internal/gates"
	"company/internal/gitops"
	"company/internal/lib/safetext"
)

// Config holds the dependencies and settings of an intake.
type Config struct {
	Decider  company.Decider
	Mirrors  gitops.MirrorSource
	Images   ImageMaker
	Projects Projects
	Prefix   string // git.integration_branch, for a project that sets none
	Log      *gitops.OpLog
	Watcher  Watcher       `part:"optional"`
	Branches BranchLocator `part:"optional"` // nil means at the project's remote
	// Lines finds the file for a config line that adds a check to a base without one. If nil, no line is offered.
	Lines LinePlacer `part:"optional"`
}

// LinePlacer finds the config file that a line for a task belongs in.
type LinePlacer interface {
	// PlaceLine returns the line with its file, or nil if it cannot be written.
	PlaceLine(ctx context.Context, t company.TaskID, l company.ConfigLine) *company.ConfigLine
}

// Watcher receives notes about preparations. Its methods must be quick.
type Watcher interface {
	// WatchImage receives each requirement of the project that a task's image does not meet.
	WatchImage(t company.TaskID, note string)
}

// ImageMaker finds and makes the images of tasks. *image.Builder implements it.
type ImageMaker interface {
	// FindLocal returns the id of an image by its key, or "" if it does not exist locally.
	FindLocal(ctx context.Context, key string) (id string, err error)
	// Ensure makes an image if it does not exist.
	Ensure(ctx context.Context, req image.Request) (image.Image, error)
	// Explain describes what an image is made from.
	Explain(ctx context.Context, req image.Request) (image.Explanation, error)
	// Resolve makes the lock files that the tree of a request lacks.
	Resolve(ctx context.Context, req image.Request) (image.Resolved, error)
	// KeepMade returns the JSON text that was stored for these inputs of a project, or makes and stores it.
	KeepMade(ctx context.Context, project string, inputs []string, make func(context.Context) ([]byte, error)) (
		[]byte, error)
	// Relock recreates lock files of the tree of a request.
	Relock(ctx context.Context, req image.Request, locks []ecosystem.LockConflict) ([]ecosystem.MadeFile, error)
}

// BranchLocator finds the repository of a pull request's branch, which may be a fork.
type BranchLocator interface {
	// BranchURL returns the URL of that repository, or "" if the branch was not pushed. remote is the project's.
	BranchURL(ctx context.Context, mirror *gitops.Mirror, lead *company.Task, remote string) (string, error)
}

// Intake carries out prepare and image effects. It finds a task's base and determines its gates there, and then has
// the image made.
type Intake struct{ Config }

// New returns an intake. It fails if a required dependency is missing.
func New(config Config) (*Intake, error) {
	if config.Watcher == nil {
		config.Watcher = unwatched{}
	}
	return &Intake{config}, company.CheckParts(config)
}

// unwatched is a Watcher that discards all notes.
type unwatched struct{}

func (unwatched) WatchImage(company.TaskID, string) {}

var (
	_ company.OutcomeFinder = (&Intake{}).FindBase
	_ company.OutcomeFinder = (&Intake{}).MakeImage
)

// FindBase finds the base of a task and the gates that judge it. It only reads git objects, so that planning can
// begin. It also reads what the project requires of its image, and fails before any cost arises if the president has
// not allowed that.
func (in *Intake) FindBase(ctx context.Context, effect company.Effect) (company.Command, error) {
	state := in.Decider.View()
	task, err := state.Task(effect.Task)
	if err != nil {
		return nil, err
	}
	project, err := in.Projects.SettingsOf(ctx, task)
	if err != nil {
		return nil, err
	}
	mirror, err := in.Mirrors.MirrorOf(ctx, task)
	if err != nil {
		return nil, err
	}
	if lead := state.LeadOf(task); lead != task {
		return in.findFollowUpBase(ctx, state, task, lead, mirror, project)
	}
	info, err := mirror.FetchBase(ctx, in.Log, gitops.Source{Path: task.Project.Path}, task.Base)
	if err == nil && len(task.After) > 0 {
		info, err = in.takeMerged(ctx, mirror, task, info)
	}
	if err != nil {
		return nil, markNeedsPerson(err)
	}
	branch, err := gitops.IntegrationBranch(cmp.Or(project.BranchPrefix, in.Prefix), task.ID, state.Office.ID)
	if err != nil {
		return nil, markNeedsPerson(err)
	}
	if err := mirror.HasFolders(ctx, info.OID, project.Paths); err != nil {
		return nil, markNeedsPerson(err)
	}
	found, err := gates.Detect(ctx, mirror, info.OID, project.gateOptions())
	if err != nil {
		return nil, err
	}
	if _, err := project.imageRequest(ctx, mirror, info.OID, info.OID, found); err != nil {
		return nil, err
	}
	base := company.Base{Branch: info.Branch, OID: info.OID, PRBranch: info.Branch, Dirty: info.Dirty,
		Ahead: info.AheadOfRemote}
	if !info.RemoteHasBranch && info.DefaultBranch != "" {
		base.PRBranch = info.DefaultBranch
	}
	beside := found.BesideChecks()
	if beside.MorePackages = project.mayAddPackages(); beside.MorePackages {
		beside.Packages = state.LatestPackages(task.Project.ID)
	}
	if line, ok := found.TestLine(); ok && len(found.Gates) == 0 && in.Lines != nil {
		beside.Line = in.Lines.PlaceLine(ctx, task.ID, line)
	}
	return company.RecordBase{Task: task.ID, TaskBased: company.TaskBased{
		Base: base, Gates: found.Gates, GateHash: gates.HashGates(found.Gates), Integration: branch, BesideChecks: beside,
	}}, nil
}

// MakeImage makes the image of a task whose base is known.
func (in *Intake) MakeImage(ctx context.Context, e company.Effect) (company.Command, error) {
	task, err := in.Decider.View().Task(e.Task)
	if err != nil {
		return nil, err
	}
	if task.Prepared == nil {
		return nil, company.E(company.EInternal, "cannot prepare an image for a task without a base")
	}
	mirror, err := in.Mirrors.MirrorOf(ctx, task)
	if err != nil {
		return nil, err
	}
	taskPrepared := *task.Prepared
	img, locks, err := in.ensureImage(ctx, task, mirror)
	if err != nil && len(taskPrepared.Packages) > 0 && ctx.Err() == nil {
		// The archive may be unavailable or lack one of the packages. The base was judged without them before.
		taskPrepared.Packages, taskPrepared.MorePackages = nil, false
		without := *task
		without.Prepared = &taskPrepared
		if again, made, other := in.ensureImage(ctx, &without, mirror); other == nil {
			in.Watcher.WatchImage(task.ID, "Debian's "+strings.Join(task.Prepared.Packages, ", ")+
				" cannot be installed, so checks run without them: "+err.Error())
			img = again
			locks = made
			err = nil
		}
	}
	if err != nil {
		return nil, err
	}
	taskPrepared.Image = string(img.Key)
	taskPrepared.ImageLayers = shortLayers(img.Layers)
	taskPrepared.Locks = locks
	taskPrepared.Notes = imageNotes(img)
	return company.RecordPreparation{Task: task.ID, TaskPrepared: taskPrepared}, nil
}

// ensureImage makes the image of a task and reports its notes. locks is the tree with the lock files that were made
// for it. It is empty if the project has its own.
func (in *Intake) ensureImage(
	ctx context.Context, task *company.Task, mirror *gitops.Mirror,
) (img image.Image, locks company.OID, err error) {
	req, err := in.requestImage(ctx, task, mirror)
	if err != nil {
		return img, "", err
	}
	resolved, err := in.Images.Resolve(ctx, req)
	if err != nil {
		return img, "", err
	}
	if len(resolved.Locks) > 0 {
		if req.Repo.Locks, err = mirror.AddFiles(ctx, req.Repo.Commit, resolved.Locks); err != nil {
			return img, "", err
		}
	}
	if img, err = in.Images.Ensure(ctx, req); err != nil {
		return img, "", err
	}
	for _, n := range append(resolved.Notes, img.Notes...) {
		in.Watcher.WatchImage(task.ID, n)
	}
	return img, req.Repo.Locks, nil
}

// maxNotes and maxNote limit an image's notes in the ledger, because they contain text of the repository.
const (
	maxNotes = 8
	maxNote  = 300
)

// imageNotes returns the notes of an image. They may explain a failed check later.
func imageNotes(img image.Image) []string {
	var out []string
	for _, n := range img.Notes[:min(len(img.Notes), maxNotes)] {
		out = append(out, safetext.EscapeLine(n, maxNote))
	}
	return out
}

// markNeedsPerson marks errors that a retry cannot fix. A remote that is unreachable has been tried three times.
func markNeedsPerson(err error) error {
	var fault *company.Error
	if !errors.As(err, &fault) {
		return err
	}
	switch fault.Code {
	case company.EInvalid, company.ENotFound, company.EProtected, company.EConflict:
		return fault.NeedsPerson()
	case company.EGit:
		if gitops.IsUnreachable(fault) {
			return fault.Fix("nothing was changed, and company approve tries again once this machine reaches the " +
				"remote").NeedsPerson()
		}
	}
	return err
}
