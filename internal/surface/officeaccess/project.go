package officeaccess

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"company/internal/api/client"
	"company/internal/company"
	"company/internal/lib/safetext"
	"company/internal/office"
	"company/internal/office/config"
)

// resolveProject returns the repository to work on: the named project, or the checkout.
func (ent *Entrance) resolveProject(ctx context.Context, paths office.Paths, project string) (string, error) {
	switch {
	case project == "":
		return ent.FindCheckout(paths)
	case ent.RepoDir != "":
		return "", company.E(company.EUsage, "--project and --repo cannot be used together").Because("--repo also says where the office is").
			Fix("use one of them")
	}
	return ent.projectPath(ctx, project)
}

// LoadReadyProject returns the repository to work on and a config that is ready for work.
func (ent *Entrance) LoadReadyProject(
	ctx context.Context, paths office.Paths, project string,
) (string, config.Loaded, error) {
	repo, err := ent.resolveProject(ctx, paths, project)
	if err != nil {
		return "", config.Loaded{}, err
	}
	loaded, err := ent.loadProjectConfig(ctx, paths, repo)
	if err != nil {
		return "", config.Loaded{}, err
	}
	return repo, loaded, loaded.CheckKeyFiles()
}

// FindProject finds a project by id, name or path. It returns the zero record if there is none,
// and EConflict if two projects have the name.
func FindProject(records []company.ProjectRecord, arg string) (company.ProjectRecord, error) {
	var named []company.ProjectRecord
	for _, record := range records {
		if record.ID == arg {
			return record, nil
		}
		if record.Name == arg {
			named = append(named, record)
		}
	}
	switch len(named) {
	case 1:
		return named[0], nil
	case 0:
		if top, err := CheckoutAt(arg); err == nil {
			for _, record := range records {
				if record.WorkDir == top {
					return record, nil
				}
			}
		}
		return company.ProjectRecord{}, nil
	}
	var list []string
	for _, p := range named {
		list = append(list, p.ID+" at "+safetext.EscapeLine(p.WorkDir, 100))
	}
	return company.ProjectRecord{},
		company.E(company.EConflict, fmt.Sprintf("%d projects are called %s", len(named), arg)).
			Because(strings.Join(list, "\n        ")).Fix("name it by its id: " + named[0].ID)
}

// projectPath returns the checkout that --project names: a known project or a path. An argument
// that looks like a path is a path.
func (ent *Entrance) projectPath(ctx context.Context, arg string) (string, error) {
	if strings.ContainsRune(arg, filepath.Separator) || arg == "." || arg == ".." {
		return CheckoutAt(arg)
	}
	known, conn, err := Read(ctx, ent, (*client.Office).Projects)
	if err != nil {
		return "", err
	}
	conn.Close()
	record, err := FindProject(known.Projects, arg)
	if err != nil {
		return "", err
	}
	if record.ID != "" {
		return CheckoutAt(record.WorkDir)
	}
	if info, err := os.Stat(arg); err == nil && info.IsDir() {
		return CheckoutAt(arg)
	}
	fault := company.E(company.ENotFound, "unknown project "+safetext.EscapeLine(arg, 80))
	var names []string
	for _, p := range known.Projects {
		names = append(names, p.Name)
	}
	if len(names) > 0 {
		fault = fault.Because("known projects: " + strings.Join(names, ", "))
	}
	return "", fault.Fix("company project list shows all projects; --project also takes a path")
}
