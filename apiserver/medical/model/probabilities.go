// SPDX-License-Identifier: Apache-2.0

package model

import "math"

// Lambda returns the noisy-OR link probability: the probability that the condition
// alone causes the observation. share is the share of patients with the
// condition who report the observation, whatever its cause, and leak is its frequency
// without the condition. It follows from share = 1 - (1 - leak)(1 - lambda).
func Lambda(share, leak float64) float64 {
	return (share - leak) / (1 - leak)
}

// FactorProbability returns the share of patients with a condition who have a risk
// factor, or another observation with a factor. The result follows by Bayes' rule from
// prevalence, the share of all people who have the factor, and from the odds
// multipliers present and absent. It is zero if no one has the factor.
func FactorProbability(prevalence, present, absent float64) float64 {
	with, without := float64(prevalence*present), float64((1-prevalence)*absent)
	if with <= 0 {
		return 0
	}
	return min(with/(with+without), 1)
}

// BinaryEntropy returns the entropy in nats of an event with probability p.
func BinaryEntropy(p float64) float64 {
	if p <= 0 || p >= 1 {
		return 0
	}
	return -float64(p*math.Log(p)) - float64((1-p)*math.Log1p(-p))
}

// normalP90 is the 90th percentile of the standard normal distribution.
const normalP90 = 1.2815515655446004

// NewCourse returns the course in which the middle 80 % of patients have had symptoms
// for between from and to minutes, a tenth for less, and a tenth for more. Both must be
// positive, and from must be less than to.
func NewCourse(from, to float64) Course {
	low, high := math.Log(from), math.Log(to)
	return Course{Mean: (low + high) / 2, StdDev: (high - low) / (2 * normalP90)}
}
