package officeaccess

import (
	"context"

	officeapp "company/internal/app"
	"company/internal/company"
	"company/internal/lib/safetext"
	"company/internal/office"
	"company/internal/office/config"
)

// LinePlan is a proposed config line and the change of a file that adds it.
type LinePlan struct {
	Line    company.ConfigLine // with its file and its text there
	Diff    string             // diff of the file
	Holds   bool               // the setting already applies
	options config.LoadOptions
	change  config.Change
	again   func(context.Context) (LinePlan, error) // repeats the plan for the file's current content
}

// maxReplans limits how often a line is planned again because its file changed.
const maxReplans = 10

// PlanLine plans a config line for a checkout without writing it. The line goes to the user's own
// file for the repository, or with tracked to the company.yaml of the checkout. It returns
// EConflict if the key is set elsewhere.
func (ent *Entrance) PlanLine(
	ctx context.Context, paths office.Paths, checkout string, tracked bool, configLine company.ConfigLine,
) (LinePlan, error) {
	linePlan := LinePlan{Line: configLine, options: ent.loadOptionsFor(paths, checkout),
		again: func(ctx context.Context) (LinePlan, error) {
			return ent.PlanLine(ctx, paths, checkout, tracked, configLine)
		}}
	file, err := config.RepositoryFile(ent.Console.LookupEnv, checkout)
	begin := beginOwnFile(checkout)
	if tracked {
		begin = "" // the file exists
		file, err = trackedFile(paths, checkout)
	}
	if err != nil {
		return LinePlan{}, err
	}
	digest, err := config.FileDigest(file)
	if err != nil {
		return LinePlan{}, err
	}
	loaded, err := config.Load(ctx, linePlan.options)
	if err != nil {
		return LinePlan{}, err
	}
	change, needed, err := config.PlanLine(loaded, file, configLine)
	if err != nil {
		return LinePlan{}, err
	}
	if !needed {
		linePlan.Holds = true
		return linePlan, nil
	}
	change.Begin, change.DryRun = begin, true
	changed, err := config.ChangeFile(ctx, linePlan.options, change)
	if err != nil {
		return LinePlan{}, err
	}
	// The value may include a list from the file. The digest detects a concurrent change, so no
	// entries are lost.
	change.DryRun, change.Digest = false, &digest
	linePlan.change, linePlan.Diff = change, changed.RenderDiff(file)
	linePlan.Line.File, linePlan.Line.Text = file, configLine.Key+": "+changed.Now
	return linePlan, nil
}

// beginOwnFile returns the first line of the user's own file for a repository. It names the
// checkout, because the file's name does not.
func beginOwnFile(checkout string) string {
	return "# " + safetext.EscapeLine(checkout, 300) + ": your own settings for this repository, above its company.yaml.\n"
}

// loadOptionsFor returns options without flags to load the config for work on a checkout.
func (ent *Entrance) loadOptionsFor(paths office.Paths, checkout string) config.LoadOptions {
	loadOptions := ent.LoadOptions(paths, nil)
	if checkout != paths.Repo {
		loadOptions.Project = checkout
	}
	return loadOptions
}

// WriteLine writes a planned line, even if the file has changed since. It returns the keys that
// take effect only once the file is trusted.
func (ent *Entrance) WriteLine(ctx context.Context, linePlan LinePlan) ([]config.TrustRequest, error) {
	for tries := 0; !linePlan.Holds; tries++ {
		changed, err := config.ChangeFile(ctx, linePlan.options, linePlan.change)
		if company.CodeOf(err) != company.EConflict || tries == maxReplans {
			return changed.Requests, err
		}
		if linePlan, err = linePlan.again(ctx); err != nil {
			return nil, err
		}
	}
	return nil, nil
}

// lineWriter writes config lines for the tasks of an office.
type lineWriter struct {
	entrance *Entrance
	paths    office.Paths
}

var _ officeapp.LineWriter = lineWriter{}

func (w lineWriter) PlaceLine(
	ctx context.Context, checkout string, configLine company.ConfigLine,
) (company.ConfigLine, bool, error) {
	p, err := w.entrance.PlanLine(ctx, w.paths, checkout, false, configLine)
	return p.Line, err == nil && !p.Holds, err
}

func (w lineWriter) WriteLine(ctx context.Context, checkout string, l company.ConfigLine) error {
	linePlan, err := w.entrance.PlanLine(ctx, w.paths, checkout, false, l)
	if err != nil {
		return err
	}
	_, err = w.entrance.WriteLine(ctx, linePlan)
	return err
}
