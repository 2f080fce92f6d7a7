package merger

// ConflictBrief is what the agent is told of a conflict, for tests outside.
var ConflictBrief = conflictBrief

// MergeCommand is mergeCommand for tests.
var MergeCommand = mergeCommand
