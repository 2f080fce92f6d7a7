package catalog

import (
	"slices"

	"company/internal/ecosystem"
	"company/internal/testreport"
)

// FormatOf is the format of reports that goes by a name; without a reader where
// there is none.
func FormatOf(name string) testreport.Format {
	all := append(testreport.Shared(), testreport.Plain(plainReaders))
	for _, e := range Of[ecosystem.Reporter]() {
		all = append(all, e.Formats()...)
	}
	if i := slices.IndexFunc(all, func(f testreport.Format) bool { return f.Name == name }); i >= 0 {
		return all[i]
	}
	return testreport.Format{}
}

func plainReaders() (out []testreport.LineReader) {
	for _, e := range Of[ecosystem.Reporter]() {
		out = append(out, e.PlainReaders()...)
	}
	return out
}

// PlanterOf is the ecosystem that puts a failing test beside a change in this way;
// nil: none does.
func PlanterOf(plant string) ecosystem.Planter {
	for _, e := range Of[ecosystem.Planter]() {
		if slices.Contains(e.Plants(), plant) {
			return e
		}
	}
	return nil
}

// IsBuildFailure says whether a failure, by its name, is that of code that does not
// build.
func IsBuildFailure(test string) bool {
	return slices.ContainsFunc(Of[ecosystem.Builder](), func(e ecosystem.Builder) bool { return e.IsBuildFailure(test) })
}
