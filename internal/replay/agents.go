package replay

import (
	"context"

	"company/internal/agent"
	"company/internal/company"
)

// Agents are agents whose runs converse with their records.
type Agents struct{ Director *Director }

// Driver has a run converse with its record.
func (a Agents) Driver(context.Context, company.Bindings, string) (agent.Driver, error) {
	return a.Director.Driver(), nil
}
