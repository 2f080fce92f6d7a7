package catalog

import (
	"slices"

	"company/internal/ecosystem"
	"company/internal/ecosystem/testreport"
)

// FormatOf returns the report format with this name. The format has no reader if there is none.
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

// PlanterOf returns the ecosystem that plants failing tests in this way, or nil.
func PlanterOf(plant string) ecosystem.Planter {
	for _, planter := range Of[ecosystem.Planter]() {
		if slices.Contains(planter.Plants(), plant) {
			return planter
		}
	}
	return nil
}

// IsBuildFailure reports whether a failure of this name means that the code does not build.
func IsBuildFailure(test string) bool {
	return slices.ContainsFunc(Of[ecosystem.Builder](), func(e ecosystem.Builder) bool { return e.IsBuildFailure(test) })
}
