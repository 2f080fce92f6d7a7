package entrance

import (
	"slices"
	"strings"

	"company/internal/company"
)

// ChooseWay is a flag that says how a task begins; two of them are EUsage.
func (ent *Entrance) ChooseWay(way string) func(string) error {
	const key = "plan.way="
	return func(string) error {
		if slices.ContainsFunc(ent.ConfigFlags, func(kv string) bool { return strings.HasPrefix(kv, key) }) {
			return company.E(company.EUsage, "plan.way is set twice").Because("--one and --split set it, too").Fix("use one of them")
		}
		ent.ConfigFlags = append(ent.ConfigFlags, key+way)
		return nil
	}
}
