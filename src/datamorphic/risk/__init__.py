"""Models that decide about people and money: credit risk and fairness."""
