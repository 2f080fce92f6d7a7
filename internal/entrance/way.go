package entrance

import (
	"slices"
	"strings"

	"company/internal/company"
)

// ChooseWay is a flag that says how a task begins; two of them are EUsage.
func (e *Entrance) ChooseWay(way string) func(string) error {
	const key = "plan.way="
	return func(string) error {
		if slices.ContainsFunc(e.ConfigFlags, func(kv string) bool { return strings.HasPrefix(kv, key) }) {
			return company.E(company.EUsage, "plan.way is set twice").Because("--one and --split set it, too").Fix("use one of them")
		}
		e.ConfigFlags = append(e.ConfigFlags, key+way)
		return nil
	}
}
