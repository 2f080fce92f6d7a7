package merger

// ConflictBrief is what the agent is told of a conflict, for tests outside.
var ConflictBrief = conflictBrief

// MergeCommand is mergeCommand for tests.
var MergeCommand = mergeCommand

// SquashMessage is squashMessage for tests.
var SquashMessage = squashMessage

// DetectStyle is detectStyle for tests.
var DetectStyle = detectStyle

// IsOfProgram is isOfProgram for tests.
var IsOfProgram = isOfProgram
