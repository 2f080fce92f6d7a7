package gates

// What tests of a real repository look at.
var CanaryPlaces = canaryPlaces

const MaxCanaries = maxCanaries
