// Package hostops implements the functions of the process around an office for its API and its
// tools: submissions, patches, pull requests as text, checks of the machine, and the config. Each
// call reads the config again, asks no questions and prints nothing. Calls may be concurrent. The
// package decides nothing and holds no office.
package hostops

import (
	"context"
	"io"
	"strings"

	officeapp "company/internal/app"
	"company/internal/company"
	"company/internal/office/config"
	"company/internal/present/view"
	"company/internal/surface/diagnose"
	"company/internal/surface/officeaccess"
)

// Prepare validates an instruction like company submit and returns its command.
type Prepare func(ctx context.Context, ent *officeaccess.Entrance, s view.Submission) (company.Submit, error)

// Desk implements these functions for one program.
type Desk struct {
	entrance *officeaccess.Entrance
	prepare  Prepare
}

// New returns the Desk of a program with the flags in ent. Each call reads the flags.
func New(ent *officeaccess.Entrance, prepare Prepare) Desk { return Desk{ent, prepare} }

// NewCall returns the Entrance of one call. Notes go to stderr only with --verbose.
func (d Desk) NewCall() *officeaccess.Entrance {
	console := *d.entrance.Console
	console.In = strings.NewReader("")
	console.Out = io.Discard
	console.Output = "text"
	console.NoInput = true
	console.Quiet = !console.Verbose
	console.Yes = false
	return d.entrance.ForCall(&console)
}

// PrepareSubmission validates an instruction like company submit and returns its command.
func (d Desk) PrepareSubmission(ctx context.Context, s view.Submission) (company.Submit, error) {
	return d.prepare(ctx, d.NewCall(), s)
}

// Patch returns the diff of a range from the git objects that the company holds.
func (d Desk) Patch(ctx context.Context, r view.Range) (view.Patch, error) {
	paths, err := d.NewCall().FindOffice()
	if err != nil {
		return view.Patch{}, err
	}
	patch, err := officeapp.ReadPatch(ctx, paths, r, officeapp.MaxPatch)
	return view.Patch{Range: r, Stat: patch.StatText(), Files: patch.Changes, Text: string(patch.Text),
		Truncated: patch.Truncated,
		Notes:     append([]string{}, patch.Notes(r)...)}, err
}

// PullPage returns a pull request in the format of company pr show.
func (d Desk) PullPage(ctx context.Context, pullRecord view.PullRecord) (view.PullText, error) {
	paths, err := d.NewCall().FindOffice()
	if err != nil {
		return view.PullText{}, err
	}
	body, err := officeapp.PullText(paths, pullRecord)
	if err != nil {
		return view.PullText{}, err
	}
	changed := ""
	if p, err := officeapp.ReadPatch(ctx, paths, view.PullRange(pullRecord.Task()), 0); err == nil {
		changed = p.StatText()
	}
	next := view.NextPullStep(pullRecord.Task(), func() string { return "" })
	text := view.PullPage(pullRecord.Task(), officeapp.PlainPullText(body), changed, next, view.Style{})
	return view.PullText{Text: text, Body: body, Task: pullRecord.Pull.Lead.ID}, nil
}

// SyncPulls asks the forge about open pull requests like company pr sync.
func (d Desk) SyncPulls(
	ctx context.Context, pulls []view.PullRecord, do func(company.RecordPRFeedback) (company.TaskID, error),
) ([]view.PullSync, error) {
	ent := d.NewCall()
	paths, loaded, err := ent.LoadReady(ctx)
	if err != nil {
		return nil, err
	}
	var open []company.Pull
	sync := officeapp.PullSync{Paths: paths, Config: loaded, Env: ent.Console.LookupEnv, Logger: ent.Console.Log}
	for _, pullRecord := range pulls {
		sync.Office = pullRecord.Office
		open = append(open, pullRecord.Pull)
	}
	return sync.Poll(ctx, open, do)
}

// ClosePull closes a pull request on its forge like company pr close.
func (d Desk) ClosePull(ctx context.Context, pullRecord view.PullRecord, reason string) error {
	if !pullRecord.Task().PR.IsOnForge() {
		return nil // a page cannot be closed
	}
	ent := d.NewCall()
	paths, err := ent.FindOffice()
	if err != nil {
		return err
	}
	loaded, err := ent.LoadConfig(ctx, paths)
	if err != nil {
		return err
	}
	review := officeapp.PullReview{Paths: paths, Config: loaded.Config, Office: pullRecord.Office,
		Env:    ent.Console.LookupEnv,
		Logger: ent.Console.Log}
	return review.Close(ctx, pullRecord.Task(), reason)
}

// Diagnose runs the checks of company doctor.
func (d Desk) Diagnose(ctx context.Context, online bool) (view.Diagnosis, error) {
	ent, options := d.NewCall(), diagnose.Options{Online: online}
	ctx, cancel := context.WithTimeout(ctx, options.Timeout())
	defer cancel()
	return view.Diagnose(ent.FindFaults(ctx, options)), nil
}

// Config lists the config like company config show.
func (d Desk) Config(ctx context.Context, project string) (view.ConfigList, error) {
	return d.NewCall().ListConfig(ctx, project)
}

// ChangeConfig sets or unsets a key of the office's company.yaml, like company config.
func (d Desk) ChangeConfig(ctx context.Context, c config.Change) (config.ChangeReport, error) {
	return d.NewCall().ChangeOfficeConfig(ctx, c)
}
