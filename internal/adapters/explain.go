package adapters

import (
	"cmp"
	"errors"
	"fmt"

	"company/internal/company"
)

// ChooseModel is the command that sets the default model in the user's own config, for hints.
const ChooseModel = "company config set --user models.default " +
	"'{adapter: openai, model: gpt-5, api_key_env: OPENAI_API_KEY}'"

// Explain turns a failure of Chat into an error with a fix for people. The code is EModelAuth for problems with
// a key or billing, EModelAway if the server is away or takes no work, and EModel otherwise. Other errors are
// returned unchanged.
func Explain(err error, info Info) error {
	var fault *Error
	if !errors.As(err, &fault) {
		return err
	}
	name := cmp.Or(info.Model, "the model")
	c := company.E(company.EModel, fmt.Sprintf("%s gave no answer", name)).Because(fault.Error())
	c.Op, c.Class = "ask the model", company.Recoverable
	switch fault.Kind {
	case Unreachable:
		c.Code = company.EModelAway
		c = c.Fix("check that its server runs and that its address is right" + info.describePlace())
	case UnknownHost:
		c.Code, c.Class = company.EModelAway, company.HumanRequired
		c = c.Fix("check the host of its address" + info.describePlace() + ", and the proxy variables of the environment")
	case Overloaded:
		c.Code = company.EModelAway
		c = c.Fix("its server refuses requests for now; try again later, or give the profile a `fallback`")
	case TimedOut:
		c = c.Fix("its server accepted the request and went silent; try again, give the profile a `fallback`, or raise " +
			"limits.model_silence if it needs longer")
	case MalformedReply:
		c = c.Fix("its server sent incomplete replies; try again, or use another model")
	case Auth:
		c.Code, c.Class = company.EModelAuth, company.HumanRequired
		c = c.Fix("set the variable that api_key_env" + info.describePlace() + " names to a key that may use this model")
		if info.KeyEnv != "" {
			c = c.Fix("export " + info.KeyEnv + "=… with a key that may use this model")
		}
	case Quota:
		c.Code, c.Class = company.EModelAuth, company.HumanRequired
		c = c.Fix("the account's quota is used up: check its billing, or use another profile")
	case TooLong:
		c = c.Fix("the conversation exceeds the model's context: use smaller subtasks, or a model with a larger context")
	case BadRequest:
		c.Class = company.HumanRequired
		c = c.Fix("check the model's name and base_url" + info.describePlace())
	}
	if fault.Fix != "" {
		c = c.Fix(fault.Fix)
	}
	// Because already has the cause's text, so only the error chain is kept.
	return &explained{told: c, cause: err}
}

// describePlace returns the file and line that set the model or its address, in brackets after a blank. It returns ""
// if nothing sets them.
func (i Info) describePlace() string {
	if i.SetIn == "" {
		return ""
	}
	return " (" + i.SetIn + ")"
}

// explained wraps the cause without printing it twice.
type explained struct {
	told  *company.Error
	cause error
}

func (e *explained) Error() string   { return e.told.Error() }
func (e *explained) Unwrap() []error { return []error{e.told, e.cause} }
