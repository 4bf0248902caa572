import { deliverySuite } from "../suites/delivery.ts";
import { deliveryGround } from "../support/deliveries.ts";

deliverySuite(() => deliveryGround());
