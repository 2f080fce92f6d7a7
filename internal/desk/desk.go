// Package desk is what the program around an office answers for its API and its tools:
// the submission of an instruction, patches, pull requests as text, checks of the machine,
// the config. It owns the environment of such a call: a config is read anew for each,
// nothing is asked, and nothing is printed. It promises that calls may come at once. It
// decides nothing, and holds no office.
package desk

import (
	"context"
	"io"
	"strings"

	officeapp "company/internal/app"
	"company/internal/company"
	"company/internal/config"
	"company/internal/diagnose"
	"company/internal/entrance"
	"company/internal/view"
)

// Prepare checks an instruction as company submit does, and makes its command.
type Prepare func(ctx context.Context, ent *entrance.Entrance, s view.Submission) (company.Submit, error)

// Desk answers for one program.
type Desk struct {
	entrance *entrance.Entrance
	prepare  Prepare
}

// New makes the desk of a program whose flags are in ent. They are read at each call.
func New(ent *entrance.Entrance, prepare Prepare) Desk { return Desk{ent, prepare} }

// NewCall is the entrance of one call. Notes go to stderr with --verbose alone.
func (d Desk) NewCall() *entrance.Entrance {
	c := *d.entrance.Console
	c.In, c.Out, c.Output, c.NoInput, c.Quiet, c.Yes = strings.NewReader(""), io.Discard, "text", true, !c.Verbose, false
	return d.entrance.ForCall(&c)
}

// PrepareSubmission checks an instruction as company submit does, and makes its command.
func (d Desk) PrepareSubmission(ctx context.Context, s view.Submission) (company.Submit, error) {
	return d.prepare(ctx, d.NewCall(), s)
}

// Patch is the diff of a range, from the git objects that the company holds.
func (d Desk) Patch(ctx context.Context, r view.Range) (view.Patch, error) {
	paths, err := d.NewCall().FindOffice()
	if err != nil {
		return view.Patch{}, err
	}
	p, err := officeapp.ReadPatch(ctx, paths, r, officeapp.MaxPatch)
	return view.Patch{Range: r, Stat: p.StatText(), Files: p.Changes, Text: string(p.Text), Truncated: p.Truncated, Notes: append([]string{}, p.Notes(r)...)}, err
}

// PullPage is a pull request as company pr show prints it.
func (d Desk) PullPage(ctx context.Context, r view.PullRecord) (view.PullText, error) {
	paths, err := d.NewCall().FindOffice()
	if err != nil {
		return view.PullText{}, err
	}
	body, err := officeapp.PullText(paths, r)
	if err != nil {
		return view.PullText{}, err
	}
	changed := ""
	if p, err := officeapp.ReadPatch(ctx, paths, view.PullRange(r.Task()), 0); err == nil {
		changed = p.StatText()
	}
	next := view.NextPullStep(r.Task(), func() string { return "" })
	text := view.PullPage(r.Task(), officeapp.PlainPullText(body), changed, next, view.Style{})
	return view.PullText{Text: text, Body: body, Task: r.Pull.Lead.ID}, nil
}

// SyncPulls asks the forge about open pull requests, as company pr sync does.
func (d Desk) SyncPulls(ctx context.Context, pulls []view.PullRecord, do func(company.RecordPRFeedback) (company.TaskID, error)) ([]view.PullSync, error) {
	ent := d.NewCall()
	paths, loaded, err := ent.LoadReady(ctx)
	if err != nil {
		return nil, err
	}
	var open []company.Pull
	sync := officeapp.PullSync{Paths: paths, Config: loaded, Env: ent.Console.LookupEnv, Logger: ent.Console.Log}
	for _, r := range pulls {
		sync.Office = r.Office
		open = append(open, r.Pull)
	}
	return sync.Poll(ctx, open, do)
}

// ClosePull closes a pull request on its forge, as company pr close does.
func (d Desk) ClosePull(ctx context.Context, r view.PullRecord, why string) error {
	if !r.Task().PR.IsOnForge() {
		return nil // a page has nothing to close
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
	review := officeapp.PullReview{Paths: paths, Config: loaded.Config, Office: r.Office, Env: ent.Console.LookupEnv, Logger: ent.Console.Log}
	return review.Close(ctx, r.Task(), why)
}

// Diagnose is company doctor.
func (d Desk) Diagnose(ctx context.Context, online bool) (view.Diagnosis, error) {
	ent, o := d.NewCall(), diagnose.Options{Online: online}
	ctx, cancel := context.WithTimeout(ctx, o.Timeout())
	defer cancel()
	return view.Diagnose(ent.FindFaults(ctx, o)), nil
}

// Config is company config show.
func (d Desk) Config(ctx context.Context, project string) (view.ConfigList, error) {
	return d.NewCall().ListConfig(ctx, project)
}

// ChangeConfig is company config set and unset of the office's company.yaml.
func (d Desk) ChangeConfig(ctx context.Context, c config.Change) (config.ChangeReport, error) {
	return d.NewCall().ChangeOfficeConfig(ctx, c)
}
